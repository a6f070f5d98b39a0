#include "core/http/server/tls_context.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <utility>

namespace gpuward::http {
namespace {

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

TlsContext::TlsContext(ServerTls files, OnProblem on_problem)
    : files_(std::move(files)), on_problem_(std::move(on_problem)), context_(make_context()) {
  watches_.emplace_back(files_.certificate_file);
  watches_.emplace_back(files_.key_file);
  if (!files_.client_ca_file.empty()) watches_.emplace_back(files_.client_ca_file);
  if (context_ != nullptr) SSL_CTX_set_cert_cb(context_, on_handshake, this);
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

Result<std::unique_ptr<TlsContext>> TlsContext::create(const ServerTls& files,
                                                       OnProblem on_problem) {
  std::unique_ptr<TlsContext> made(new TlsContext(files, std::move(on_problem)));
  if (made->context_ == nullptr) return fail(ErrorKind::kInternal, "OpenSSL gives no TLS context");
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

std::shared_ptr<const TlsMaterial> TlsContext::newest() {
  std::string problem;
  std::shared_ptr<const TlsMaterial> material;
  {
    const std::lock_guard lock(mutex_);
    for (FileWatch& watch : watches_) reload_is_due_ = watch.changed() || reload_is_due_;
    if (reload_is_due_) {
      auto loaded = load_tls_material(files_);
      if (loaded) {
        material_ = std::move(*loaded);
        reload_is_due_ = false;
      } else {
        problem = loaded.error().message;
      }
    }
    material = material_;
  }
  if (!problem.empty() && on_problem_) on_problem_(problem);
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
