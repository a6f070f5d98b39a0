// A test's own certificate authority, and the certificates that it signs: for servers, for clients,
// and expired ones. Used by the tests of TLS; all of it ends with the test.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <vector>

namespace gpuward::support {

struct KeyedCertificate {
  std::string certificate_pem;
  std::string key_pem;
};

enum class Validity : bool { kNow, kExpired };

class CertificateAuthority {
 public:
  explicit CertificateAuthority(const std::string& common_name);
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  [[nodiscard]] const std::string& certificate_pem() const { return certificate_pem_; }
  // `names`: DNS names and IP addresses, all in the subject alternative name.
  [[nodiscard]] KeyedCertificate issue_server(const std::vector<std::string>& names,
                                              Validity validity = Validity::kNow) const;
  // Subject "CN=common_name,O=organisation"; to Kubernetes a user and its group.
  [[nodiscard]] KeyedCertificate issue_client(const std::string& common_name,
                                              const std::string& organisation = "gpuward") const;
  // With an empty subject: only `uri` ("spiffe://...") names the client.
  [[nodiscard]] KeyedCertificate issue_client_without_subject(const std::string& uri) const;

 private:
  EVP_PKEY* key_;
  X509* certificate_;
  std::string certificate_pem_;
};

}  // namespace gpuward::support
