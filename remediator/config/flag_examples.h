// The examples at the end of --help: how to use the program and each of its commands. Used by
// flags.cpp only. command_line_test checks that each command has an example and that the program
// accepts it.
#pragma once

#include <array>

#include "core/command_line/examples.h"

namespace gpuward::remediator {

inline constexpr std::array kExamples = {
    Example{
        "",
        "gpuward-remediator --config.file policy.yaml --check-config\n"
        "gpuward-remediator --config.file policy.yaml --kubeconfig ~/.kube/config --mode observe "
        "--web.listen-address 127.0.0.1:10981 --web.insecure"},
    Example{"notify", "gpuward-remediator notify test --config.file policy.yaml"},
    Example{"notify test",
            "gpuward-remediator notify test --config.file policy.yaml\n"
            "gpuward-remediator notify test oncall --config.file policy.yaml"},
    Example{"completion",
            "source <(gpuward-remediator completion bash)\n"
            "gpuward-remediator completion zsh > ~/.gpuward-remediator.zsh"},
};

}  // namespace gpuward::remediator
