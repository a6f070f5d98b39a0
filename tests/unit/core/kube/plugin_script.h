// An exec plugin as a shell script in a folder of the test, which can change it while it runs. Used
// by the tests of exec plugins.
#pragma once

#include <filesystem>
#include <string>

#include "core/kube/config.h"
#include "tests/support/temp_dir.h"

namespace gpuward::kube {

class PluginScript {
 public:
  explicit PluginScript(const std::string& body) { write(body); }
  void write(const std::string& body) {
    namespace fs = std::filesystem;
    fs::permissions(folder.write("plugin", "#!/bin/sh\n" + body + "\n"), fs::perms::owner_all);
  }
  [[nodiscard]] ExecPlugin plugin() const {
    ExecPlugin made;
    made.command = (folder / "plugin").string();
    made.api_version = "client.authentication.k8s.io/v1";
    return made;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(folder / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  support::TempDir folder;
};

inline std::string credential(const std::string& status) {
  return R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" +
         status + "}";
}

}  // namespace gpuward::kube
