#include "remediator/notify/slack_sink.h"

#include <utility>

#include "core/runtime/json.h"
#include "remediator/notify/json_post.h"

namespace gpuward::remediator {
namespace {

class SlackSink final : public Sink {
 public:
  SlackSink(std::unique_ptr<JsonPost> post, std::string text)
      : post_(std::move(post)), text_(std::move(text)) {}

  Status deliver(const NotificationEvent& event, const std::stop_token& stop) override {
    return post_->send(dump_json({{"text", escape_for_slack(text_of(event, text_))}}), stop);
  }

 private:
  std::unique_ptr<JsonPost> post_;
  std::string text_;
};

}  // namespace

std::string escape_for_slack(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '&') {
      escaped += "&amp;";
    } else if (letter == '<') {
      escaped += "&lt;";
    } else if (letter == '>') {
      escaped += "&gt;";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

Result<std::unique_ptr<Sink>> open_slack_sink(const SinkSettings& settings, const SinkServices&) {
  auto post = JsonPost::open(settings);
  if (!post) return std::unexpected(post.error());
  return std::make_unique<SlackSink>(std::move(*post), settings.text);
}

}  // namespace gpuward::remediator
