#include "tests/support/control_plane.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/runtime/encoding.h"
#include "core/runtime/files.h"
#include "tests/support/http_get.h"
#include "tests/support/kubernetes_parts.h"
#include "tests/support/ports.h"
#include "tests/support/rsa_key.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::support {
namespace {

constexpr const char* kAdminToken = "admin-token-of-a-test";
constexpr std::chrono::seconds kShortGrace{3};

// etcd syncs every write: uses memory if there is room (its logs are preallocated, 64 MiB each).
std::filesystem::path data_parent() {
  std::error_code error;
  const auto space = std::filesystem::space("/dev/shm", error);
  const bool roomy = !error && space.available > (std::uintmax_t{1} << 30U);
  return roomy ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
}

std::string tokens_csv(const std::vector<TokenUser>& users) {
  std::string text = std::string(kAdminToken) + ",admin,admin,\"system:masters\"\n";
  for (const TokenUser& user : users) {
    std::string groups;
    for (const std::string& group : user.groups) groups += (groups.empty() ? "" : ",") + group;
    text += user.token + "," + user.user + "," + user.user + ",\"" + groups + "\"\n";
  }
  return text;
}

std::string end_of(const std::string& text) {
  return text.substr(text.size() - std::min<std::size_t>(text.size(), 3000));
}

std::string content_type_of(const std::string& method) {
  return method == "PATCH" ? "application/merge-patch+json" : "application/json";
}

}  // namespace

class ControlPlane::Impl {
 public:
  Impl() : folder_(data_parent()) {
    layout_.folder = folder_.path();
    layout_.admin_token = kAdminToken;
    layout_.etcd_port = free_port();
    layout_.etcd_peer_port = free_port();
    layout_.api_port = free_port();
    url_ = "https://127.0.0.1:" + std::to_string(layout_.api_port);
    ca_file_ = layout_.folder / "certs/apiserver.crt";
    kubeconfig_ = layout_.folder / "kubeconfig";
  }

  Status start(const ControlPlaneOptions& options) {
    write_inputs(options);
    options_ = options;
    return serve();
  }

  Status serve() {
    const KubernetesParts parts = find_kubernetes_parts();
    if (auto status = spawn(etcd_, etcd_command(parts, layout_)); !status) return status;
    std::vector<std::string> command = apiserver_command(parts, layout_);
    command.insert(command.end(), options_.apiserver_flags.begin(), options_.apiserver_flags.end());
    if (auto status = spawn(apiserver_, std::move(command)); !status) return status;
    if (!wait_for_ready(options_.start_limit)) {
      return fail(ErrorKind::kUnavailable,
                  "kube-apiserver did not become ready; etcd: " + end_of(etcd_->error_output()) +
                      "\nkube-apiserver: " + end_of(apiserver_->error_output()));
    }
    if (!options_.controller_manager) return {};
    return spawn(controller_manager_, controller_manager_command(parts, kubeconfig_));
  }

  // Copies etcd's data from one of these folders to the other, while etcd is stopped.
  Status copy_data(const char* from, const char* to) {
    controller_manager_.reset();
    (void)apiserver_->stop(kShortGrace);
    (void)etcd_->stop(kShortGrace);
    std::error_code error;
    std::filesystem::remove_all(layout_.folder / to, error);
    std::filesystem::copy(layout_.folder / from, layout_.folder / to,
                          std::filesystem::copy_options::recursive, error);
    if (error) return fail(ErrorKind::kInternal, "copying etcd's data: " + error.message());
    return serve();
  }

  [[nodiscard]] Result<http::ClientResponse> request(const std::string& method,
                                                     const std::string& path,
                                                     const std::string& body) const {
    http::ClientRequest request;
    request.method = method;
    request.url = url_ + path;
    request.headers = {{"Authorization", std::string("Bearer ") + kAdminToken},
                       {"Content-Type", content_type_of(method)}};
    request.body = body;
    auto answer = client_->send(request);
    // A newly defined kind has no storage yet: the server answers 429 until it has.
    (void)poll_until([&] {
      const bool waits = answer && answer->status == 429 &&
                         answer->body.find("storage is (re)initializing") != std::string::npos;
      if (waits) answer = client_->send(request);
      return !waits;
    });
    return answer;
  }

  // Uses etcd's own JSON gateway.
  [[nodiscard]] Status put_into_store(const std::string& key, const std::string& json) const {
    const auto answer = http_post(
        "http://127.0.0.1:" + std::to_string(layout_.etcd_port) + "/v3/kv/put",
        R"({"key":")" + encode_base64(key) + R"(","value":")" + encode_base64(json) + "\"}");
    if (answer.status == 200) return {};
    return fail(ErrorKind::kInternal, "etcd: " + answer.body);
  }

  [[nodiscard]] std::filesystem::path kubeconfig_for(const std::string& token) const {
    return folder_.write("kubeconfig-" + std::to_string(++written_),
                         kubeconfig_text(url_, ca_file_, token));
  }

  const std::string& url() const { return url_; }
  const std::string& ca_pem() const { return ca_pem_; }
  const std::filesystem::path& ca_file() const { return ca_file_; }
  const std::string& admin_token() const { return layout_.admin_token; }
  const std::filesystem::path& kubeconfig() const { return kubeconfig_; }

 private:
  void write_inputs(const ControlPlaneOptions& options) {
    const RsaKey key = make_rsa_key();
    folder_.write("sa.key", key.private_pem);
    folder_.write("sa.pub", key.public_pem);
    folder_.write("tokens.csv", tokens_csv(options.users));
    folder_.write("kubeconfig", kubeconfig_text(url_, ca_file_, kAdminToken));
  }

  static Status spawn(std::unique_ptr<Process>& slot, std::vector<std::string> command) {
    ProcessOptions options;
    options.argv = std::move(command);
    auto process = Process::spawn(std::move(options));
    if (!process) return std::unexpected(process.error());
    slot = *std::move(process);
    return {};
  }

  [[nodiscard]] bool wait_for_ready(std::chrono::milliseconds limit) {
    bool failed = false;
    const bool settled = poll_until(
        [&] {
          failed = !etcd_->running() || !apiserver_->running();
          return failed || is_ready();
        },
        limit);
    return settled && !failed;
  }

  // The certificate appears while the server starts; from then on it is the client's CA.
  [[nodiscard]] bool is_ready() {
    if (!client_) {
      auto pem = read_file(ca_file_);
      if (!pem || pem->find("END CERTIFICATE") == std::string::npos) return false;
      ca_pem_ = *std::move(pem);
      http::ClientTls tls;
      tls.ca_pem = ca_pem_;
      client_ = std::make_unique<http::CurlClient>(tls);
    }
    return answers_ok("/readyz") && answers_ok("/api/v1/namespaces/default");
  }

  [[nodiscard]] bool answers_ok(const std::string& path) const {
    const auto response = request("GET", path, {});
    return response && response->status == 200;
  }

  ControlPlaneOptions options_;
  TempDir folder_;
  ControlPlaneLayout layout_;
  std::string url_, ca_pem_;
  std::filesystem::path ca_file_, kubeconfig_;
  mutable std::atomic<int> written_ = 0;
  std::unique_ptr<http::CurlClient> client_;
  std::unique_ptr<Process> etcd_, apiserver_, controller_manager_;  // ended in reverse order
};

std::string ControlPlane::why_unavailable() {
  const KubernetesParts parts = find_kubernetes_parts();
  if (parts.etcd.empty()) return "no etcd in the cache: `.ci/run` builds one";
  if (parts.apiserver.empty()) {
    return "no kube-apiserver: set KUBE_APISERVER, or let `.ci/run` build one";
  }
  return {};
}

std::string ControlPlane::why_no_controllers() {
  if (!find_kubernetes_parts().controller_manager.empty()) return {};
  return "no kube-controller-manager in the cache: `./dev deps --all` builds one";
}

Result<std::unique_ptr<ControlPlane>> ControlPlane::start(ControlPlaneOptions options) {
  // free_port() reserves a port among tests only: another program may take it first.
  for (int attempt = 1;; ++attempt) {
    auto impl = std::make_unique<Impl>();
    const auto status = impl->start(options);
    if (status) return std::unique_ptr<ControlPlane>(new ControlPlane(std::move(impl)));
    if (attempt == 2) return with_context("starting a control plane", status.error());
  }
}

ControlPlane::ControlPlane(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControlPlane::~ControlPlane() = default;

const std::string& ControlPlane::url() const { return impl_->url(); }
const std::string& ControlPlane::ca_pem() const { return impl_->ca_pem(); }
const std::filesystem::path& ControlPlane::ca_file() const { return impl_->ca_file(); }
const std::string& ControlPlane::admin_token() const { return impl_->admin_token(); }
const std::filesystem::path& ControlPlane::kubeconfig() const { return impl_->kubeconfig(); }

std::filesystem::path ControlPlane::kubeconfig_for(const std::string& token) const {
  return impl_->kubeconfig_for(token);
}

Result<Process::Outcome> ControlPlane::kubectl(std::vector<std::string> arguments,
                                               std::string input) const {
  ProcessOptions options;
  const auto& kubeconfig = impl_->kubeconfig();
  options.argv = {"kubectl", "--kubeconfig=" + kubeconfig.string(),
                  "--cache-dir=" + (kubeconfig.parent_path() / "kubectl-cache").string()};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.input = std::move(input);
  return Process::run(std::move(options));
}

Status ControlPlane::apply(const std::filesystem::path& file) const {
  auto text = read_file(file);
  if (!text) return std::unexpected(text.error());
  return apply_text(*text);
}

Status ControlPlane::apply_text(const std::string& yaml) const {
  const auto outcome = kubectl({"apply", "-f", "-"}, yaml);
  if (!outcome) return std::unexpected(outcome.error());
  if (outcome->exit_code != 0) {
    return fail(ErrorKind::kInvalid, "kubectl apply: " + outcome->error_output);
  }
  return {};
}

Result<http::ClientResponse> ControlPlane::request(const std::string& method,
                                                   const std::string& path,
                                                   const std::string& body) const {
  return impl_->request(method, path, body);
}

Status ControlPlane::put_into_store(const std::string& key, const std::string& json) const {
  return impl_->put_into_store(key, json);
}

Status ControlPlane::take_backup() { return impl_->copy_data("etcd", "backup"); }
Status ControlPlane::restore_backup() { return impl_->copy_data("backup", "etcd"); }

}  // namespace gpuward::support
