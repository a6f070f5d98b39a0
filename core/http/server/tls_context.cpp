#include "core/http/server/tls_context.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
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
  if (found.empty()) return fail(ErrorKind::kInvalid, file + ": contains no PEM certificate");
  return found;
}

Status read_key(const std::string& file, TlsMaterial& material) {
  const auto text = read_file(file);
  if (!text) return std::unexpected(text.error());
  const Bio bio = bio_of(*text);
  material.key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (!material.key) {
    return fail(ErrorKind::kInvalid,
                file + ": contains no PEM private key, or the key has a passphrase");
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

bool use_certificate(SSL* connection, const TlsMaterial& material) {
  STACK_OF(X509)* rest = sk_X509_new_null();
  for (std::size_t i = 1; i < material.chain.size(); ++i)
    sk_X509_push(rest, material.chain[i].get());
  const int done =
      SSL_use_cert_and_key(connection, material.chain.front().get(), material.key.get(), rest, 1);
  sk_X509_free(rest);
  return done == 1;
}

// The store decides; the names only tell the client which of its certificates to show.
bool demand_client_certificate(SSL* connection, const TlsMaterial& material) {
  if (!material.client_store) return true;
  if (SSL_set1_verify_cert_store(connection, material.client_store.get()) != 1) return false;
  for (const Certificate& authority : material.client_cas) {
    if (SSL_add_client_CA(connection, authority.get()) != 1) return false;
  }
  SSL_set_verify(connection, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return true;
}

SSL_CTX* make_context() {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  if (context == nullptr) return nullptr;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_TICKET);
  // Without resumption every connection is checked against the client CA of today.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  return context;
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
                                         " does not match the first certificate in " +
                                         files.certificate_file);
  }
  if (files.client_ca_file.empty()) return material;
  if (auto status = read_client_cas(files.client_ca_file, *material); !status) {
    return with_context("TLS client CA", status.error());
  }
  return material;
}

TlsContext::TlsContext(ServerTls files, OnProblem on_problem)
    : files_(std::move(files)),
      on_problem_(std::move(on_problem)),
      context_(make_context()),
      reload_({files_.certificate_file, files_.key_file, files_.client_ca_file}) {
  if (context_ == nullptr) return;
  SSL_CTX_set_cert_cb(context_, on_handshake, this);
  SSL_CTX_set_app_data(context_, this);
  SSL_CTX_set_info_callback(context_, on_info);
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

Result<std::unique_ptr<TlsContext>> TlsContext::create(const ServerTls& files,
                                                       OnProblem on_problem) {
  std::unique_ptr<TlsContext> made(new TlsContext(files, std::move(on_problem)));
  if (made->context_ == nullptr)
    return fail(ErrorKind::kInternal, "OpenSSL could not create a TLS context");
  auto material = load_tls_material(files);
  if (!material) return std::unexpected(material.error());
  made->material_ = std::move(*material);
  return made;
}

int TlsContext::on_handshake(SSL* connection, void* self) {
  const auto material = static_cast<TlsContext*>(self)->newest();
  const bool ready =
      use_certificate(connection, *material) && demand_client_certificate(connection, *material);
  return ready ? 1 : 0;
}

void TlsContext::on_info(const SSL* connection, int what, int /*result*/) {
  if (what != SSL_CB_HANDSHAKE_START) return;
  const auto* self = static_cast<TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
  if (self->on_begin_) self->on_begin_();
}

std::shared_ptr<const TlsMaterial> TlsContext::newest() {
  Status reloaded;
  std::shared_ptr<const TlsMaterial> material;
  {
    const std::lock_guard lock(mutex_);
    reloaded = reload_.reload_if_due([this]() -> Status {
      auto loaded = load_tls_material(files_);
      if (!loaded) return std::unexpected(loaded.error());
      material_ = std::move(*loaded);
      return {};
    });
    material = material_;
  }
  if (!reloaded && on_problem_) on_problem_(reloaded.error().message);
  return material;
}

std::string subject_of(const void* x509) {
  BIO* bio = BIO_new(BIO_s_mem());
  const X509_NAME* name = X509_get_subject_name(static_cast<const X509*>(x509));
  X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  std::string subject(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  BIO_free(bio);
  return subject;
}

}  // namespace gpuward::http
