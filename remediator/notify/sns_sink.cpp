#include "remediator/notify/sns_sink.h"

#include <utility>

#include "core/aws/client.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kLongestSubject = 100;

class SnsSink final : public Sink {
 public:
  SnsSink(SinkSettings settings, aws::AwsClient& aws) : settings_(std::move(settings)), aws_(aws) {}

  Status deliver(const NotificationEvent& event, const std::stop_token& stop) override {
    const std::string text = text_of(event, settings_.text);
    const auto published = aws_.query({.service = aws::kSns,
                                       .action = "Publish",
                                       .version = "2010-03-31",
                                       .parameters = {{"TopicArn", settings_.target},
                                                      {"Subject", sns_subject(text)},
                                                      {"Message", to_event_json(event, text)}},
                                       .region = settings_.region,
                                       .timeout = settings_.timeout,
                                       .stop = stop});
    if (!published) return std::unexpected(published.error());
    return {};
  }

 private:
  const SinkSettings settings_;
  aws::AwsClient& aws_;
};

}  // namespace

std::string sns_subject(std::string_view text) {
  std::string subject;
  for (const char letter : text) {
    if (subject.size() == kLongestSubject) break;
    const bool is_printable = letter > ' ' && letter <= '~';
    if (is_printable) subject += letter;
    if (!is_printable && !subject.empty() && subject.back() != ' ') subject += ' ';
  }
  return subject;
}

Result<std::unique_ptr<Sink>> open_sns_sink(const SinkSettings& settings,
                                            const SinkServices& services) {
  return std::make_unique<SnsSink>(settings, services.aws);
}

}  // namespace gpuward::remediator
