// A server's certificate chain, key and client CAs, read and checked as one. Used by the TLS
// context, which replaces the whole when one of the files changes. OpenSSL's names stay inside the
// .cpp files.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <vector>

#include "core/http/server/server.h"
#include "core/model/result.h"

namespace gpuward::http {

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

}  // namespace gpuward::http
