#include "core/http/secret_digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

namespace gpuward::http {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

SecretDigest digest_of(std::string_view secret) {
  SecretDigest digest{};
  SHA256(bytes_of(secret), secret.size(), digest.data());
  return digest;
}

SecretDigest keyed_digest_of(std::string_view key, std::string_view secret) {
  SecretDigest digest{};
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(secret), secret.size(),
       digest.data(), nullptr);
  return digest;
}

bool equal_in_constant_time(const SecretDigest& left, const SecretDigest& right) {
  return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace gpuward::http
