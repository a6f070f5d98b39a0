#include "tests/support/rsa_key.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

namespace gpuward::support {
namespace {

using Bio = std::unique_ptr<BIO, int (*)(BIO*)>;

Bio make_bio() { return {BIO_new(BIO_s_mem()), BIO_free}; }

std::string text_of(const Bio& bio) {
  char* data = nullptr;
  const auto length = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(length)};
}

}  // namespace

RsaKey make_rsa_key() {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_RSA_gen(2048), EVP_PKEY_free);
  const Bio secret = make_bio();
  const Bio open = make_bio();
  PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  PEM_write_bio_PUBKEY(open.get(), key.get());
  return {text_of(secret), text_of(open)};
}

}  // namespace gpuward::support
