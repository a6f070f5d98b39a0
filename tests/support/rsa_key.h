// A fresh RSA key pair in PEM, for the service account issuer of a test's control plane.
#pragma once

#include <string>

namespace gpuward::support {

struct RsaKey {
  std::string private_pem, public_pem;
};

[[nodiscard]] RsaKey make_rsa_key();

}  // namespace gpuward::support
