// What --help shows at its end: how the program and each of its commands are used. Used by
// flags.cpp only; command_line_test holds that each has an example and that the program understands
// it.
#pragma once

#include <array>

#include "core/command_line/examples.h"

namespace gpuward::exporter {

inline constexpr std::array kExamples = {
    Example{"",
            "gpuward-exporter --config.file gpuward.yaml --check-config\n"
            "gpuward-exporter --web.listen-address 127.0.0.1:10980 --state.path ./state"},
    Example{"parse-log", "gpuward-exporter parse-log < kernel.log"},
    Example{"findings", "gpuward-exporter findings list"},
    Example{"findings list",
            "gpuward-exporter findings list\ngpuward-exporter findings list -o yaml"},
    Example{"findings clear",
            "gpuward-exporter findings clear --check xid --code 64 --pci 0000:4e:00\n"
            "gpuward-exporter findings clear --all-operator"},
    Example{"check",
            "gpuward-exporter check --suite lightweight\n"
            "gpuward-exporter check --check 4 --exclusive -o json"},
    Example{"sweep", "gpuward-exporter sweep --node-selector pool=a100"},
    Example{"quarantine",
            "gpuward-exporter quarantine --node.name gpu-01\n"
            "gpuward-exporter quarantine --node.name gpu-01 --checks 4,5,6 --clear-latched"},
    Example{"nccl-pair",
            "gpuward-exporter nccl-pair --rank 0 --address 10.0.0.7 --port 29400 --token 3f9a\n"
            "gpuward-exporter nccl-pair --rank 1 --address 10.0.0.7 --port 29400 --token 3f9a"},
    Example{"gpu-users", "gpuward-exporter gpu-users"},
    Example{"completion",
            "source <(gpuward-exporter completion bash)\n"
            "gpuward-exporter completion zsh > ~/.gpuward-exporter.zsh"},
};

}  // namespace gpuward::exporter
