#include "exporter/commands/probe_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

#include "core/command_line/client_file_options.h"
#include "core/command_line/examples.h"
#include "core/runtime/text.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"

namespace gpuward::exporter {
namespace {

using std::chrono::seconds;

constexpr std::array kProbeExamples = {
    Example{"probe",
            "gpuward-exporter probe http://gpuward-exporter.gpu-healthcheck.svc:10980/metrics "
            "--expect gpuward_node_severity\n"
            "gpuward-exporter probe http://gpuward-remediator.gpuward.svc:10981/api/v1/alerts "
            "--body '{\"version\":\"4\",\"alerts\":[]}' "
            "--probe.bearer-token-file /etc/gpuward-webhook/token"}};
constexpr std::string_view kNow = "$(NOW)";
constexpr seconds kPause{1};
constexpr seconds kOneTry{10};
constexpr std::size_t kLongestExcerpt = 200;

http::ClientRequest request_of(const ProbeWishes& wishes, Clock::Wall now) {
  http::ClientRequest request;
  request.url = wishes.url;
  request.timeout = std::min(kOneTry, wishes.timeout);
  if (wishes.body.empty()) return request;
  request.method = "POST";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = wishes.body;
  for (auto at = request.body.find(kNow); at != std::string::npos; at = request.body.find(kNow, at))
    request.body.replace(at, kNow.size(), to_rfc3339(now));
  return request;
}

// Returns the difference from the expected answer; empty if there is none.
std::string objection_to(const Result<http::ClientResponse>& answer, const ProbeWishes& wishes) {
  if (!answer) return answer.error().message;
  if (answer->status != wishes.status)
    return "the HTTP status is " + std::to_string(answer->status) + ", not " +
           std::to_string(wishes.status) + ": " + to_valid_utf8(answer->body, kLongestExcerpt);
  if (!answer->body.contains(wishes.expect))
    return "the answer does not contain `" + wishes.expect + "`";
  return {};
}

}  // namespace

void add_probe_command(CLI::App& app, Commands& commands) {
  const auto wishes = std::make_shared<ProbeWishes>();
  CLI::App* command = app.add_subcommand("probe", "Call a URL until it answers as expected");
  command->fallthrough();
  command->add_option("URL", wishes->url, "http://... or https://...")->required();
  command->add_option(
      "--body", wishes->body,
      "JSON body to send with POST; $(NOW) is replaced with the current time. Default: GET");
  command->add_option("--expect", wishes->expect, "Text that the answer must contain");
  command->add_option("--status", wishes->status, "HTTP status that the answer must have")
      ->check(CLI::Range(100, 599))
      ->capture_default_str();
  command
      ->add_option_function<int>(
          "--timeout", [wishes](int given) { wishes->timeout = seconds(given); },
          "How long to retry, in seconds")
      ->check(CLI::Range(1, 3600))
      ->default_str(std::to_string(wishes->timeout.count()));
  add_client_file_options(*command, "--probe", wishes->files);
  add_examples(app, kProbeExamples);
  commands.emplace_back(command, [wishes](const Flags&) {
    return until_signal([&](const std::stop_token& stop) {
      SystemClock clock;
      return run_probe(*wishes, clock, stop, std::cout);
    });
  });
}

int run_probe(const ProbeWishes& wishes, Clock& clock, const std::stop_token& stop,
              std::ostream& out) {
  const auto client = http::AuthorizedClient::open(wishes.files, wishes.url);
  if (!client) return complain(client.error());
  const auto deadline = clock.steady() + wishes.timeout;
  while (true) {
    const auto answer = (*client)->send(request_of(wishes, clock.wall()));
    if (!answer && answer.error().kind == ErrorKind::kInvalid) return complain(answer.error());
    const std::string objection = objection_to(answer, wishes);
    if (objection.empty()) {
      out << wishes.url << ": " << answer->status << "\n";
      return kDone;
    }
    if (clock.steady() + kPause >= deadline || !clock.sleep_for(kPause, stop)) {
      out << wishes.url << ": " << objection << "\n";
      return kFailed;
    }
  }
}

}  // namespace gpuward::exporter
