// What --help shows at its end: how the program and each of its commands are used. Used by
// flags.cpp only; command_line_test holds that each has an example and that the program understands
// it.
#pragma once

#include <array>

#include "core/command_line/examples.h"

namespace gpuward::remediator {

inline constexpr std::array kExamples = {
    Example{
        "",
        "gpuward-remediator --config.file policy.yaml --check-config\n"
        "gpuward-remediator --config.file policy.yaml --kubeconfig ~/.kube/config --mode taint"},
    Example{"list", "gpuward-remediator list --kubeconfig ~/.kube/config"},
    Example{"explain", "gpuward-remediator explain gpu-01"},
    Example{"approve", "gpuward-remediator approve gpu-01 3f2a9c41d0"},
    Example{"pause", "gpuward-remediator pause gpu-01"},
    Example{"resume", "gpuward-remediator resume gpu-01"},
    Example{"cancel", "gpuward-remediator cancel gpu-01"},
    Example{"machine-replaced", "gpuward-remediator machine-replaced gpu-01"},
    Example{"breaker", "gpuward-remediator breaker\ngpuward-remediator breaker close"},
    Example{"breaker close", "gpuward-remediator breaker close"},
    Example{"reset",
            "gpuward-remediator reset --dry-run\n"
            "gpuward-remediator reset --taint trainy.konduktor.ai/faulty --cancel"},
    Example{
        "replay",
        "gpuward-remediator replay policy.yaml --prometheus.url http://prometheus:9090 --since "
        "30d\n"
        "gpuward-remediator replay policy.yaml --history history.json --nodes nodes.json -o json"},
    Example{"notify", "gpuward-remediator notify test --config.file policy.yaml"},
    Example{"notify test",
            "gpuward-remediator notify test --config.file policy.yaml\n"
            "gpuward-remediator notify test oncall --config.file policy.yaml"},
    Example{"runbook", "gpuward-remediator runbook\ngpuward-remediator runbook GpuFallenOffBus"},
    Example{"policy", "gpuward-remediator policy check policy.yaml"},
    Example{"policy check", "gpuward-remediator policy check policy.yaml"},
    Example{
        "policy explain",
        "gpuward-remediator policy explain policy.yaml --labels pool=a100,zone=a --severity reset\n"
        "gpuward-remediator policy explain policy.yaml --node gpu-01"},
    Example{"policy schema", "gpuward-remediator policy schema > policy.schema.json"},
    Example{"exclusions", "gpuward-remediator exclusions list"},
    Example{"exclusions list", "gpuward-remediator exclusions list"},
    Example{"exclusions add",
            "gpuward-remediator exclusions add gpu-01 --for 12h --reason firmware\n"
            "gpuward-remediator exclusions add i-0123456789abcdef0"},
    Example{"exclusions remove", "gpuward-remediator exclusions remove gpu-01"},
    Example{"exclusions import", "gpuward-remediator exclusions import exclusions.json"},
    Example{"completion",
            "source <(gpuward-remediator completion bash)\n"
            "gpuward-remediator completion zsh > ~/.gpuward-remediator.zsh"},
};

}  // namespace gpuward::remediator
