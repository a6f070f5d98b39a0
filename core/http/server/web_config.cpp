#include "core/http/server/web_config.h"

#include "core/runtime/yaml.h"

namespace gpuward::http {

Result<WebConfig> load_web_config(const std::filesystem::path& path) {
  WebConfig config;
  if (path.empty()) return config;
  auto file = YamlFile::load(path);
  if (!file) return std::unexpected(file.error());
  const YamlMap root = file->root();
  const YamlMap tls = root.map("tls");
  tls.read("certificate_file", config.tls.certificate_file);
  tls.read("key_file", config.tls.key_file);
  tls.read("client_ca_file", config.tls.client_ca_file);
  if (config.tls.certificate_file.empty() != config.tls.key_file.empty()) {
    root.reject("tls", "must set both certificate_file and key_file, or neither");
  }
  if (config.tls.certificate_file.empty() && !config.tls.client_ca_file.empty()) {
    root.reject("tls", "has client_ca_file but no certificate_file");
  }
  const YamlMap auth = root.map("auth");
  auth.read("bearer_token_files", config.auth.bearer_token_files);
  auth.read("basic_users_file", config.auth.basic_users_file);
  if (auto status = file->finish(); !status) return std::unexpected(status.error());
  return config;
}

}  // namespace gpuward::http
