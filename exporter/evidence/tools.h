// Finds a vendor's tool that the image may lack: in this container's file system, or in the node's,
// which a privileged pod with hostPID sees below /proc/1/root. Used by the collectors.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpuward::exporter {

struct EvidenceTool {
  std::filesystem::path root;    // as this process sees it; "/" is its own
  std::filesystem::path within;  // the path below that root
};

// Searches this process's PATH, then the node's system, then that of the GPU operator's driver
// container. `proc` is the node's. nullopt if it is in none of them.
[[nodiscard]] std::optional<EvidenceTool> find_tool(const std::string& program,
                                                    const std::filesystem::path& proc);

// Returns the command for arguments whose paths are in `root`: uses chroot(8) if it is not "/".
[[nodiscard]] std::vector<std::string> command_of(const EvidenceTool& tool,
                                                  const std::vector<std::string>& arguments);

}  // namespace gpuward::exporter
