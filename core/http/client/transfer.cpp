#include "core/http/client/transfer.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/http/client/target.h"
#include "core/http/syntax/headers.h"
#include "core/model/result.h"
#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

// Maps curl's errors to an ErrorKind: deadline, unreachable server, wrong certificate. Used by the
// client.

ErrorKind kind_of(int code) {
  switch (code) {  // an int: curl has a hundred codes, the others are of a connection or the peer
    case CURLE_OPERATION_TIMEDOUT:
      return ErrorKind::kTimeout;
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
      return ErrorKind::kInvalid;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
      return ErrorKind::kInternal;
  }
  return ErrorKind::kUnavailable;
}

// `code` is a CURLcode; `detail` is curl's own message, which names hosts and files but no header.
Error error_of_curl(int code, const std::string& detail) {
  const std::string message =
      detail.empty() ? curl_easy_strerror(static_cast<CURLcode>(code)) : detail;
  return {kind_of(code), message, {}};
}

using std::chrono::milliseconds;

constexpr milliseconds kLongestConnect{10'000};

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderFields = std::unique_ptr<curl_slist, ListDeleter>;

void append(HeaderFields& fields, const std::string& line) {
  fields.reset(curl_slist_append(fields.release(), line.c_str()));
}

// The machine's list, plus this machine itself and the metadata of its cloud (EC2 and others) and
// of its containers (ECS, EKS): a proxy would fetch its own metadata.
std::string no_proxy() {
  std::string hosts =
      "localhost,127.0.0.1,::1,169.254.169.254,fd00:ec2::254,169.254.170.2,169.254.170.23,"
      "fd00:ec2::23";
  for (const char* name : {"no_proxy", "NO_PROXY"}) {
    const char* value =
        std::getenv(name);  // NOLINT(concurrency-mt-unsafe): this program never calls setenv
    if (value != nullptr && *value != '\0') return hosts + "," + value;
  }
  return hosts;
}

long curl_version_of(HttpVersion version) {
  switch (version) {
    case HttpVersion::kHttp11:
      return CURL_HTTP_VERSION_1_1;
    case HttpVersion::kHttp2PriorKnowledge:
      return CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
  }
  return CURL_HTTP_VERSION_1_1;
}

Status check_headers(const ClientRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || !is_field_text(name) || !is_field_text(value)) {
      return fail(ErrorKind::kInvalid, "a header contains a line break");
    }
  }
  const bool is_word = !request.method.empty() && std::ranges::all_of(request.method, [](char c) {
    return c >= 'A' && c <= 'Z';
  });
  if (!is_word) return fail(ErrorKind::kInvalid, "not a valid HTTP method");
  return {};
}

HeaderFields render_fields(const ClientRequest& request) {
  HeaderFields fields;
  for (const auto& [name, value] : request.headers) {
    append(fields,
           value.empty() ? name + ";" : name + ": " + value);  // curl's syntax for an empty one
  }
  append(fields, "Expect:");
  if (find_header(request.headers, "Content-Type") == nullptr) append(fields, "Content-Type:");
  return fields;
}

}  // namespace

class Transfer::Impl {
 public:
  explicit Impl(const ClientTls& tls) : tls_(tls), no_proxy_(no_proxy()) {}

  ~Impl() {
    easy_.reset();  // before the multi handle, which owns its connections
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<ClientResponse> run(const ClientRequest& request, const StreamOptions* stream) {
    if (!easy_ || !multi_) return fail(ErrorKind::kInternal, "curl could not create a handle");
    if (auto status = check_headers(request); !status) return std::unexpected(status.error());
    const auto target = parse_target(request.url);
    if (!target) return std::unexpected(target.error());
    curl_easy_reset(easy_.get());
    error_text_.fill('\0');
    HeaderFields fields = render_fields(request);
    if (auto status = set_target(request, *target, fields); !status) {
      return naming(request, *target, status.error());
    }
    ClientAnswer answer(request, stream);
    set_request(request, fields);
    set_answer(answer);
    const int code = drive(answer);
    auto outcome = conclude(code, answer);
    if (!outcome) return naming(request, *target, outcome.error());
    return outcome;
  }

 private:
  static std::unexpected<Error> naming(const ClientRequest& request, const ClientTarget& target,
                                       Error error) {
    const bool is_network = request.unix_socket.empty();
    return with_context(
        request.method + " " + (is_network ? target.host_field : request.unix_socket),
        std::move(error));
  }

  template <typename Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy_.get(), option, value);
  }

  Status set_target(const ClientRequest& request, const ClientTarget& target,
                    HeaderFields& fields) {
    std::string url = request.url;
    connect_to_.reset();
    if (!tls_.server_name.empty() && target.is_tls) {
      auto renamed = with_host(url, tls_.server_name);
      if (!renamed) return std::unexpected(renamed.error());
      url = std::move(*renamed);
      append(connect_to_, "::" + target.host + ":" + target.port);
      if (find_header(request.headers, "Host") == nullptr)
        append(fields, "Host: " + target.host_field);
    }
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_CONNECT_TO, connect_to_.get());
    return {};
  }

  void set_request(const ClientRequest& request, const HeaderFields& fields) {
    set_transport(request);
    set_tls();
    set(CURLOPT_HTTPHEADER, fields.get());
    if (request.method == "HEAD") {
      set(CURLOPT_NOBODY, 1L);
      return;
    }
    const bool has_body = !request.body.empty() || request.method == "POST" ||
                          request.method == "PUT" || request.method == "PATCH";
    if (has_body) {
      set(CURLOPT_POSTFIELDS, request.body.c_str());
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }

  void set_transport(const ClientRequest& request) {
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, request.is_last_of_program ? 1L : 0L);
    set(CURLOPT_HTTP_VERSION, curl_version_of(request.version));
    if (!request.unix_socket.empty()) set(CURLOPT_UNIX_SOCKET_PATH, request.unix_socket.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_FRESH_CONNECT, request.own_connection ? 1L : 0L);
    set(CURLOPT_FORBID_REUSE, request.own_connection ? 1L : 0L);
    set(CURLOPT_NOPROXY, no_proxy_.c_str());
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_TCP_KEEPIDLE, 30L);
    set(CURLOPT_TCP_KEEPINTVL, 10L);
    const auto connect = std::clamp(request.timeout, milliseconds(1), kLongestConnect);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect.count()));
    set(CURLOPT_ERRORBUFFER, error_text_.data());
  }

  void set_answer(ClientAnswer& answer) {
    set(CURLOPT_HEADERFUNCTION, &on_bytes<&ClientAnswer::take_header>);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&answer));
    set(CURLOPT_WRITEFUNCTION, &on_bytes<&ClientAnswer::take_body>);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&answer));
  }

  // Runs inside curl_multi_perform; exceptions must not cross curl.
  template <bool (ClientAnswer::*kTake)(std::string_view)>
  static std::size_t on_bytes(char* bytes, std::size_t size, std::size_t count, void* answer) {
    auto* const taker = static_cast<ClientAnswer*>(answer);
    try {
      return (taker->*kTake)({bytes, size * count}) ? size * count : 0;
    } catch (...) {
      taker->fail_with({ErrorKind::kInternal, "an exception in a callback", {}});
      return 0;
    }
  }

  void set_blob(CURLoption option, const std::string& text) {
    curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
    set(option, &blob);
  }

  void set_tls() {
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!tls_.ca_pem.empty()) {
      set_blob(CURLOPT_CAINFO_BLOB, tls_.ca_pem);
    } else if (!tls_.ca_file.empty()) {
      set(CURLOPT_CAINFO, tls_.ca_file.c_str());
      // curl 7.87 and newer cache a parsed CA file for a day, but the file may be rotated.
      set(CURLOPT_CA_CACHE_TIMEOUT, 0L);
    }
    if (!tls_.certificate_pem.empty()) {
      set_blob(CURLOPT_SSLCERT_BLOB, tls_.certificate_pem);
      set_blob(CURLOPT_SSLKEY_BLOB, tls_.key_pem);
    }
    set(CURLOPT_SSL_VERIFYPEER, tls_.skip_verify ? 0L : 1L);
    set(CURLOPT_SSL_VERIFYHOST, tls_.skip_verify ? 0L : 2L);
  }

  // Returns a CURLcode; gpuward's own reasons to end are in the answer.
  int drive(ClientAnswer& answer) {
    curl_multi_add_handle(multi_.get(), easy_.get());
    int code = CURLE_OK;
    {
      // wakeup is the one call of a multi handle that is allowed from another thread.
      const std::stop_callback wake(answer.stop_token(),
                                    [this] { curl_multi_wakeup(multi_.get()); });
      code = loop(answer);
    }
    curl_multi_remove_handle(multi_.get(), easy_.get());
    return code;
  }

  int loop(ClientAnswer& answer) {
    for (;;) {
      int running = 0;
      if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
      if (running == 0) return finished_code();
      const auto wait = std::min(answer.time_left(), milliseconds(1'000));
      if (answer.error()) return CURLE_ABORTED_BY_CALLBACK;
      curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(wait.count()), nullptr);
    }
  }

  int finished_code() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    return CURLE_RECV_ERROR;
  }

  Result<ClientResponse> conclude(int code, ClientAnswer& answer) {
    if (answer.error()) return std::unexpected(*answer.error());
    if (code != CURLE_OK && !answer.was_ended_by_caller()) {
      return std::unexpected(error_of_curl(code, to_valid_utf8(error_text_.data(), 400)));
    }
    return answer.take();
  }

  const ClientTls& tls_;
  const std::string no_proxy_;
  std::unique_ptr<CURLM, MultiDeleter> multi_{curl_multi_init()};
  std::unique_ptr<CURL, EasyDeleter> easy_{curl_easy_init()};
  HeaderFields connect_to_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
};

Transfer::Transfer(const ClientTls& tls) : impl_(std::make_unique<Impl>(tls)) {}
Transfer::~Transfer() = default;

Result<ClientResponse> Transfer::run(const ClientRequest& request, const StreamOptions* stream) {
  return impl_->run(request, stream);
}

}  // namespace gpuward::http
