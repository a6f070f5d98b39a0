#include "core/command_line/client_file_options.h"

namespace gpuward {

void add_client_file_options(CLI::App& app, const std::string& prefix, http::ClientFiles& files) {
  files.prefix = prefix;
  app.add_option(
      prefix + ".ca-file", files.ca_file,
      "PEM file with the CA that signed the server certificate; default: the CAs of the system");
  app.add_option(prefix + ".bearer-token-file", files.bearer_token_file,
                 "File with the bearer token to send");
  app.add_option(prefix + ".basic-auth-file", files.basic_auth_file,
                 "File with user:password for basic authentication");
  app.add_option(prefix + ".certificate-file", files.certificate_file,
                 "PEM file with the client certificate");
  app.add_option(prefix + ".key-file", files.key_file,
                 "PEM file with the private key of the client certificate");
  app.add_flag_function(
      prefix + ".credentials-over-http",
      [&files](std::int64_t) { files.plain_http = http::PlainHttp::kAllowed; },
      "Send the token or the password to another machine over plain HTTP too; default: refuse");
}

}  // namespace gpuward
