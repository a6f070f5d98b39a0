// Where a vendor's tool is that an image may lack: in our own file system, or in the node's, which
// a privileged pod with hostPID sees below /proc/1/root. Used by the collectors.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gpuward::exporter {

struct EvidenceTool {
  std::filesystem::path root;    // as we see it; "/" is ours
  std::filesystem::path within;  // as it is called in there
};

// In our own PATH, then in the node's system, then in that of the GPU operator's driver container.
// `proc` is the node's. nullopt where it is nowhere.
[[nodiscard]] std::optional<EvidenceTool> find_tool(const std::string& program,
                                                    const std::filesystem::path& proc);

// What to start, for arguments whose paths are those in `root`: chroot(8) where it is not ours.
[[nodiscard]] std::vector<std::string> command_of(const EvidenceTool& tool,
                                                  const std::vector<std::string>& arguments);

}  // namespace gpuward::exporter
