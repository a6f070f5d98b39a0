#include "core/command_line/client_file_options.h"

namespace gpuward {

void add_client_file_options(CLI::App& app, const std::string& prefix, http::ClientFiles& files) {
  app.add_option(
      prefix + ".ca-file", files.ca_file,
      "PEM file of the authority that its certificate must be of; default: the system's");
  app.add_option(prefix + ".bearer-token-file", files.bearer_token_file,
                 "File with the token to show it");
  app.add_option(prefix + ".basic-auth-file", files.basic_auth_file,
                 "File with user:password for basic authentication");
  app.add_option(prefix + ".certificate-file", files.certificate_file,
                 "PEM file of the client certificate to show it");
  app.add_option(prefix + ".key-file", files.key_file, "PEM file of that certificate's key");
}

}  // namespace gpuward
