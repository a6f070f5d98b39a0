#include "core/http/server/tls_material.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <utility>

#include "core/runtime/files.h"

namespace gpuward::http {
namespace {

struct BioDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, BioDeleter>;

Bio bio_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A key with a passphrase must fail, not ask on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Result<std::vector<Certificate>> read_certificates(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return std::unexpected(text.error());
  const Bio bio = bio_of(*text);
  std::vector<Certificate> found;
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)) {
    found.emplace_back(next);
  }
  ERR_clear_error();  // the end of the file is an error to PEM_read_bio
  if (found.empty()) return fail(ErrorKind::kInvalid, file + ": no PEM certificate in it");
  return found;
}

Status read_key(const std::string& file, TlsMaterial& material) {
  const auto text = read_file(file);
  if (!text) return std::unexpected(text.error());
  const Bio bio = bio_of(*text);
  material.key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (!material.key) {
    return fail(ErrorKind::kInvalid, file + ": no PEM private key in it, or one with a passphrase");
  }
  return {};
}

Status read_client_cas(const std::string& file, TlsMaterial& material) {
  auto authorities = read_certificates(file);
  if (!authorities) return std::unexpected(authorities.error());
  material.client_cas = std::move(*authorities);
  material.client_store.reset(X509_STORE_new());
  for (const Certificate& authority : material.client_cas) {
    X509_STORE_add_cert(material.client_store.get(), authority.get());
  }
  return {};
}

}  // namespace

void OpensslDeleter::operator()(X509* certificate) const { X509_free(certificate); }
void OpensslDeleter::operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
void OpensslDeleter::operator()(X509_STORE* store) const { X509_STORE_free(store); }

Result<std::shared_ptr<const TlsMaterial>> load_tls_material(const ServerTls& files) {
  auto material = std::make_shared<TlsMaterial>();
  auto chain = read_certificates(files.certificate_file);
  if (!chain) return with_context("TLS certificate", chain.error());
  material->chain = std::move(*chain);
  if (auto status = read_key(files.key_file, *material); !status) {
    return with_context("TLS key", status.error());
  }
  if (X509_check_private_key(material->chain.front().get(), material->key.get()) != 1) {
    ERR_clear_error();
    return fail(ErrorKind::kInvalid, "TLS key: " + files.key_file +
                                         " does not belong to the first certificate of " +
                                         files.certificate_file);
  }
  if (files.client_ca_file.empty()) return material;
  if (auto status = read_client_cas(files.client_ca_file, *material); !status) {
    return with_context("TLS client CA", status.error());
  }
  return material;
}

}  // namespace gpuward::http
