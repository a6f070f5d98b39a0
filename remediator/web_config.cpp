#include "remediator/web_config.h"

#include "core/runtime/yaml.h"

namespace gpuward::remediator {
namespace {

Status read_file(const std::filesystem::path& path, WebConfig& config) {
  auto file = YamlFile::load(path);
  if (!file) return std::unexpected(file.error());
  const YamlMap root = file->root();
  const YamlMap tls = root.map("tls");
  tls.read("certificate_file", config.tls.certificate_file);
  tls.read("key_file", config.tls.key_file);
  tls.read("client_ca_file", config.tls.client_ca_file);
  if (config.tls.certificate_file.empty() != config.tls.key_file.empty()) {
    root.reject("tls", "needs certificate_file and key_file, both or neither");
  }
  if (config.tls.certificate_file.empty() && !config.tls.client_ca_file.empty()) {
    root.reject("tls", "has client_ca_file but no certificate_file");
  }
  const YamlMap auth = root.map("auth");
  auth.read("bearer_token_files", config.auth.bearer_token_files);
  auth.read("basic_users_file", config.auth.basic_users_file);
  return file->finish();
}

bool asks_who(const WebConfig& config) {
  return !config.auth.bearer_token_files.empty() || !config.auth.basic_users_file.empty() ||
         !config.tls.client_ca_file.empty();
}

}  // namespace

Result<WebConfig> load_web_config(const WebFlags& flags) {
  WebConfig config;
  if (!flags.config_file.empty()) {
    if (auto status = read_file(flags.config_file, config); !status) {
      return std::unexpected(status.error());
    }
  }
  for (const std::string& file : flags.bearer_token_files) {
    config.auth.bearer_token_files.push_back(file);
  }
  if (asks_who(config)) return config;
  if (!flags.insecure) {
    return fail(ErrorKind::kInvalid,
                "the webhook would be open to everybody: give --web.bearer-token-file, or auth or "
                "tls.client_ca_file in --web.config.file, or --web.insecure if that is wanted");
  }
  config.access = http::Access::kOpen;
  return config;
}

}  // namespace gpuward::remediator
