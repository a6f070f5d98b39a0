// The messages of the other side of a pair, or of any program that finds the port: the reader
// refuses them, or understands them in one way.
#include <string>

#include "exporter/nccl_pair/message.h"
#include "tests/fuzz/target.h"

namespace gpuward::fuzz {
namespace {

namespace pair = exporter::nccl_pair;

void check_refusal(const Error& error) {
  hold(error.message.size() < 500, "a refusal is short, whatever is refused");
}

// For both kinds: a message that was read can be encoded again, and means the same.
template <typename Decode>
void check_round_trip(std::string_view line, const Decode& decode) {
  const auto understood = decode(line);
  if (!understood) {
    check_refusal(understood.error());
    return;
  }
  const std::string first = encode(*understood);
  hold(first.size() <= pair::kMostMessageBytes, "a message fits into a line");
  hold(first.find('\n') == first.size() - 1, "and is one");
  const auto again = decode(std::string_view(first).substr(0, first.size() - 1));
  hold(again.has_value(), "what was understood can be said");
  hold(encode(*again) == first, "and means the same");
}

}  // namespace

void check_input(std::string_view input) {
  if (const auto nonce = pair::decode_challenge(input)) {
    const std::string line = pair::encode_challenge(*nonce);
    const auto again = pair::decode_challenge(std::string_view(line).substr(0, line.size() - 1));
    hold(again.value_or("") == *nonce, "a challenge means the same");
  }
  check_round_trip(input, pair::decode_greeting);
  check_round_trip(input, pair::decode_message);
  const auto greeting = pair::decode_greeting(input);
  if (!greeting) return;
  hold(greeting->terms.gpus >= 1 && greeting->terms.gpus <= pair::kMostGpus, "GPUs in range");
  hold(greeting->terms.most_bytes <= pair::kSizes.back(), "no more memory than is used");
  hold(!pair::proves(greeting->proof, "a token that is nowhere in the corpus", 1,
                     {.of_rank_0 = {}, .of_rank_1 = greeting->nonce}),
       "nobody guesses a token");
}

}  // namespace gpuward::fuzz
