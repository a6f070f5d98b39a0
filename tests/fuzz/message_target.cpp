// The GPU worker's messages: the exporter refuses the bytes from its pipe, or understands them in
// one way. Driven by the same two drivers as the kernel-log reader.
#include <string>

#include "exporter/gpu/worker/message_lines.h"
#include "exporter/gpu/worker/protocol.h"
#include "tests/fuzz/target.h"

namespace gpuward::fuzz {
namespace {

void check_line(std::string_view line) {
  const auto message = exporter::decode_message(line);
  if (!message) {
    hold(message.error().message.size() < 500, "a refusal is short, whatever is refused");
    return;
  }
  const int kinds =
      (message->progress ? 1 : 0) + (message->report ? 1 : 0) + (message->xid ? 1 : 0);
  hold(kinds == 1, "a line is one message");
  const std::string first = exporter::encode_message(*message);
  hold(first.size() <= exporter::kMostMessageBytes, "a message fits");
  const auto again = exporter::decode_message(std::string_view(first).substr(0, first.size() - 1));
  hold(again.has_value(), "what was understood can be said");
  hold(exporter::encode_message(*again) == first, "and means the same");
}

}  // namespace

void check_input(std::string_view input) {
  check_line(input);
  exporter::MessageLines lines(256);
  lines.feed(input, [](std::string_view line) {
    hold(line.size() <= 256, "a line is no longer than it may be");
    check_line(line);
  });
}

}  // namespace gpuward::fuzz
