#include "core/runtime/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

namespace gpuward {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Digest digest_of(std::string_view text) {
  Digest digest{};
  SHA256(bytes_of(text), text.size(), digest.data());
  return digest;
}

Digest keyed_digest_of(std::string_view key, std::string_view text) {
  Digest digest{};
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(text), text.size(),
       digest.data(), nullptr);
  return digest;
}

bool equal_in_constant_time(const Digest& left, const Digest& right) {
  return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace gpuward
