#include "remediator/notify/webhook_sink.h"

#include <string>
#include <utility>

#include "remediator/notify/json_post.h"

namespace gpuward::remediator {
namespace {

class WebhookSink final : public Sink {
 public:
  WebhookSink(std::unique_ptr<JsonPost> post, std::string text)
      : post_(std::move(post)), text_(std::move(text)) {}

  Status deliver(const NotificationEvent& event, const std::stop_token& stop) override {
    return post_->send(to_event_json(event, text_of(event, text_)), stop);
  }

 private:
  std::unique_ptr<JsonPost> post_;
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<Sink>> open_webhook_sink(const SinkSettings& settings, const SinkServices&) {
  auto post = JsonPost::open(settings);
  if (!post) return std::unexpected(post.error());
  return std::make_unique<WebhookSink>(std::move(*post), settings.text);
}

}  // namespace gpuward::remediator
