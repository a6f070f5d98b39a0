#include "tests/fakes/tools/tool_box.h"

#include <fstream>

namespace gpuward::fakes {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

ToolBox& ToolBox::add(const std::string& tool, const std::string& in_case, const ToolReply& reply) {
  if (!fs::exists(path() / tool)) fs::create_symlink(GPUWARD_REPLAY, path() / tool);
  write_case(path() / (tool + ".d") / in_case, reply);
  return *this;
}

ToolBox& ToolBox::add_once(const std::string& tool, const std::string& in_case,
                           const ToolReply& reply) {
  write_case(path() / (tool + ".d") / in_case / "once", reply);
  return *this;
}

void ToolBox::write_case(const fs::path& folder, const ToolReply& reply) const {
  fs::remove_all(folder);
  fs::create_directories(folder);
  write(folder / "stdout", reply.output);
  write(folder / "stderr", reply.complaint);
  write(folder / "exit", std::to_string(reply.exit_code));
  if (reply.hangs) write(folder / "hang", "");
  if (reply.is_deaf) write(folder / "deaf", "");
  if (reply.floods) write(folder / "flood", "");
  if (!reply.needs.empty()) write(folder / "needs", (path() / reply.needs).string());
  if (!reply.up.empty()) write(folder / "up", (path() / reply.up).string());
}

std::vector<std::string> ToolBox::calls(const std::string& tool) const {
  return lines_of(path() / (tool + ".calls"));
}

std::vector<std::string> ToolBox::environment(const std::string& tool) const {
  return lines_of(path() / (tool + ".environment"));
}

std::optional<int> ToolBox::child_of(const std::string& tool) const {
  std::ifstream in(path() / (tool + ".child"));
  int pid = 0;
  return in >> pid ? std::optional(pid) : std::nullopt;
}

bool ToolBox::is_up(const std::string& service) const { return fs::exists(path() / service); }

}  // namespace gpuward::fakes
