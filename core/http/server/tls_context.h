// TLS of a server: 1.2 and newer, client certificates where a CA is given, and files that may be
// replaced while it serves (each handshake sees the newest usable ones). Used by the server.
#pragma once

#include <openssl/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/http/server/server.h"
#include "core/model/result.h"
#include "core/runtime/files.h"

namespace gpuward::http {

// A server's certificate chain, key and client CAs, read and checked as one; the context replaces
// the whole when one of the files changes. OpenSSL's names stay inside the .cpp file.
struct OpensslDeleter {
  void operator()(X509* certificate) const;
  void operator()(EVP_PKEY* key) const;
  void operator()(X509_STORE* store) const;
};

using Certificate = std::unique_ptr<X509, OpensslDeleter>;

struct TlsMaterial {
  std::vector<Certificate> chain;  // the server's own first
  std::unique_ptr<EVP_PKEY, OpensslDeleter> key;
  std::vector<Certificate> client_cas;  // empty: no mTLS
  std::unique_ptr<X509_STORE, OpensslDeleter> client_store;
};

// kInvalid or read_file's error; names the file and what is wrong with it.
[[nodiscard]] Result<std::shared_ptr<const TlsMaterial>> load_tls_material(const ServerTls& files);

class TlsContext {
 public:
  using OnProblem = std::function<void(const std::string&)>;

  [[nodiscard]] static Result<std::unique_ptr<TlsContext>> create(const ServerTls& files,
                                                                  OnProblem on_problem);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  [[nodiscard]] SSL_CTX* native() const { return context_; }
  // Before the first handshake: what is called whenever one begins, on its thread.
  void set_on_begin(std::function<void()> on_begin) { on_begin_ = std::move(on_begin); }

 private:
  TlsContext(ServerTls files, OnProblem on_problem);
  static int on_handshake(SSL* connection, void* self);
  static void on_info(const SSL* connection, int what, int result);
  [[nodiscard]] std::shared_ptr<const TlsMaterial> newest();

  ServerTls files_;
  OnProblem on_problem_;
  std::function<void()> on_begin_;
  SSL_CTX* context_ = nullptr;
  std::mutex mutex_;
  FileReload reload_;                            // guarded by mutex_
  std::shared_ptr<const TlsMaterial> material_;  // guarded by mutex_
};

// "CN=prometheus,O=monitoring" (RFC 2253) of a certificate's subject.
[[nodiscard]] std::string subject_of(const void* x509);

}  // namespace gpuward::http
