#include "tests/support/certificates.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <functional>
#include <stdexcept>

namespace gpuward::support {
namespace {

constexpr long kHour = 3600;

EVP_PKEY* make_key() { return EVP_EC_gen("P-256"); }

std::string pem_of(const std::function<int(BIO*)>& write) {
  BIO* bio = BIO_new(BIO_s_mem());
  if (write(bio) != 1) throw std::runtime_error("OpenSSL writes no PEM");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  std::string pem(text, static_cast<std::size_t>(size));
  BIO_free(bio);
  return pem;
}

void add_name(X509* certificate, const char* field, const std::string& value) {
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) throw std::runtime_error("OpenSSL refuses the extension " + value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* make_certificate(EVP_PKEY* key, Validity validity) {
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1U);
  const bool is_expired = validity == Validity::kExpired;
  X509_gmtime_adj(X509_getm_notBefore(certificate), is_expired ? -48 * kHour : -kHour);
  X509_gmtime_adj(X509_getm_notAfter(certificate), is_expired ? -24 * kHour : 24 * kHour);
  X509_set_pubkey(certificate, key);
  return certificate;
}

KeyedCertificate finish(X509* certificate, EVP_PKEY* key, EVP_PKEY* signer) {
  if (X509_sign(certificate, signer, EVP_sha256()) == 0) throw std::runtime_error("X509_sign");
  KeyedCertificate made;
  made.certificate_pem = pem_of([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
  made.key_pem = pem_of([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  return made;
}

std::string alternative_name(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    in6_addr ignored{};
    const bool is_address = inet_pton(AF_INET, name.c_str(), &ignored) == 1 ||
                            inet_pton(AF_INET6, name.c_str(), &ignored) == 1;
    text += (text.empty() ? "" : ",") + std::string(is_address ? "IP:" : "DNS:") + name;
  }
  return text;
}

}  // namespace

CertificateAuthority::CertificateAuthority(const std::string& common_name)
    : key_(make_key()), certificate_(make_certificate(key_, Validity::kNow)) {
  add_name(certificate_, "CN", common_name);
  X509_set_issuer_name(certificate_, X509_get_subject_name(certificate_));
  add_extension(certificate_, certificate_, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate_, certificate_, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(certificate_, certificate_, NID_subject_key_identifier, "hash");
  certificate_pem_ = finish(certificate_, key_, key_).certificate_pem;
}

CertificateAuthority::~CertificateAuthority() {
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

KeyedCertificate CertificateAuthority::issue_server(const std::vector<std::string>& names,
                                                    Validity validity) const {
  EVP_PKEY* key = make_key();
  X509* certificate = make_certificate(key, validity);
  add_name(certificate, "CN", names.front());
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
  add_extension(certificate, certificate_, NID_ext_key_usage, "serverAuth");
  add_extension(certificate, certificate_, NID_subject_alt_name, alternative_name(names));
  KeyedCertificate made = finish(certificate, key, key_);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return made;
}

KeyedCertificate CertificateAuthority::issue_client(const std::string& common_name,
                                                    const std::string& organisation) const {
  EVP_PKEY* key = make_key();
  X509* certificate = make_certificate(key, Validity::kNow);
  add_name(certificate, "O", organisation);
  add_name(certificate, "CN", common_name);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
  add_extension(certificate, certificate_, NID_ext_key_usage, "clientAuth");
  KeyedCertificate made = finish(certificate, key, key_);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return made;
}

KeyedCertificate CertificateAuthority::issue_client_without_subject(const std::string& uri) const {
  EVP_PKEY* key = make_key();
  X509* certificate = make_certificate(key, Validity::kNow);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate_));
  add_extension(certificate, certificate_, NID_ext_key_usage, "clientAuth");
  add_extension(certificate, certificate_, NID_subject_alt_name, "critical,URI:" + uri);
  KeyedCertificate made = finish(certificate, key, key_);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return made;
}

}  // namespace gpuward::support
