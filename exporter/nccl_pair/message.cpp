#include "exporter/nccl_pair/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/runtime/digest.h"
#include "core/runtime/encoding.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::exporter::nccl_pair {
namespace {

constexpr JsonLimits kLineLimits{.max_bytes = kMostMessageBytes, .max_depth = 4, .max_values = 64};
constexpr std::size_t kMostHostBytes = 253;  // of a DNS name
constexpr std::size_t kProofDigits = 64;
constexpr std::size_t kNonceDigits = 32;
constexpr double kMostBandwidth = 1e12;
// A week in nanoseconds: no measurement takes longer.
constexpr std::uint64_t kMostNanoseconds = 604'800'000'000'000;

constexpr std::array<std::pair<SideResult::Kind, std::string_view>, 5> kReportWords{
    {{SideResult::Kind::kMeasured, "measured"},
     {SideResult::Kind::kFailed, "failed"},
     {SideResult::Kind::kHangs, "hangs"},
     {SideResult::Kind::kUnknown, "untold"},
     {SideResult::Kind::kGaveUp, "gave-up"}}};

std::string_view word_of(SideResult::Kind kind) {
  return kReportWords[static_cast<std::size_t>(kind)].second;
}

std::optional<UniqueId> id_from(std::string_view text) {
  UniqueId id{};
  const auto bytes = from_hex(text);
  if (!bytes || bytes->size() != id.size()) return std::nullopt;
  std::ranges::copy(*bytes, id.begin());
  return id;
}

// Returns the number at `key`, if it is a whole one in that range.
std::optional<std::uint64_t> number_at(const Json& object, std::string_view key,
                                       std::uint64_t least, std::uint64_t most) {
  const Json& value = member_at(object, key);
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<std::uint64_t>();
  return number < least || number > most ? std::nullopt : std::optional(number);
}

std::optional<Terms> terms_from(const Json& json) {
  const auto gpus = number_at(json, "gpus", 1, kMostGpus);
  const auto nccl = number_at(json, "nccl", 1, 1'000'000'000);
  const auto bytes = number_at(json, "bytes", 0, kSizes.back());
  const Json& bandwidth = member_at(json, "min_bus_bandwidth");
  Terms terms;
  terms.host = string_at(json, "host");
  const bool is_named = !terms.host.empty() && terms.host.size() <= kMostHostBytes &&
                        terms.host == to_valid_utf8(terms.host);
  if (!gpus || !nccl || !bytes || !is_named || !bandwidth.is_number()) return std::nullopt;
  terms.gpus = static_cast<unsigned>(*gpus);
  terms.nccl_version = static_cast<int>(*nccl);
  terms.most_bytes = *bytes;
  terms.min_bus_bandwidth = bandwidth.get<double>();
  if (terms.min_bus_bandwidth < 0 || terms.min_bus_bandwidth > kMostBandwidth) return std::nullopt;
  return terms;
}

Json to_json(const SideResult& report) {
  Json json = {{"report", word_of(report.kind)}};
  if (report.kind == SideResult::Kind::kMeasured) {
    json["nanoseconds"] = report.figures.nanoseconds;
    json["wrong_values"] = report.figures.wrong_values;
  } else {
    json["words"] = to_valid_utf8(report.words, kMostWordsBytes);
  }
  return json;
}

std::optional<Figures> figures_from(const Json& json) {
  const auto wrong =
      number_at(json, "wrong_values", 0, std::numeric_limits<std::uint64_t>::max() / 2);
  const Json& times = member_at(json, "nanoseconds");
  if (!wrong || !times.is_array() || times.empty() || times.size() > kSizes.size())
    return std::nullopt;
  Figures figures{.nanoseconds = {}, .wrong_values = *wrong};
  for (const Json& time : times) {
    if (!time.is_number_unsigned()) return std::nullopt;
    figures.nanoseconds.push_back(time.get<std::uint64_t>());
    if (figures.nanoseconds.back() == 0 || figures.nanoseconds.back() > kMostNanoseconds)
      return std::nullopt;
  }
  return figures;
}

std::optional<SideResult> report_from(const Json& json) {
  const std::string word = string_at(json, "report");
  for (const auto& [kind, known] : kReportWords) {
    if (word != known) continue;
    SideResult report{.kind = kind, .words = string_at(json, "words"), .figures = {}};
    if (report.words != to_valid_utf8(report.words, kMostWordsBytes)) return std::nullopt;
    if (kind != SideResult::Kind::kMeasured) return report;
    auto figures = figures_from(json);
    if (!figures) return std::nullopt;
    report.figures = *std::move(figures);
    return report;
  }
  return std::nullopt;
}

bool is_nonce(std::string_view text) {
  return text.size() == kNonceDigits && from_hex(text).has_value();
}

}  // namespace

std::string make_nonce() { return random_hex(kNonceDigits); }

// Rank and nonces have fixed lengths, so no two of these texts are equal.
std::string proof_of(std::string_view token, int rank, const Nonces& nonces) {
  return to_hex(
      view_of(keyed_digest_of(token, "gpuward nccl-pair, rank " + std::to_string(rank) +
                                         ", nonces " + nonces.of_rank_0 + " " + nonces.of_rank_1)));
}

bool proves(std::string_view proof, std::string_view token, int rank, const Nonces& nonces) {
  return equal_in_constant_time(digest_of(proof), digest_of(proof_of(token, rank, nonces)));
}

std::string difference_of(const Greeting& mine, const Greeting& theirs) {
  const auto differ = [](const std::string& what, const auto& here, const auto& there) {
    return what + " differs: " + here + " on this node, " + there + " on the peer";
  };
  const Terms& here = mine.terms;
  const Terms& there = theirs.terms;
  if (mine.version != theirs.version) {
    return differ("the protocol", std::to_string(mine.version), std::to_string(theirs.version));
  }
  if (here.gpus != there.gpus) {
    return differ("the number of GPUs", std::to_string(here.gpus), std::to_string(there.gpus));
  }
  if (here.nccl_version != there.nccl_version) {
    return differ("NCCL's version", nccl_version_text(here.nccl_version),
                  nccl_version_text(there.nccl_version));
  }
  // Both sides parse the same text, so equal texts give equal numbers.
  if (here.min_bus_bandwidth != there.min_bus_bandwidth) {
    return differ("the required bandwidth", dump_json(here.min_bus_bandwidth),
                  dump_json(there.min_bus_bandwidth));
  }
  return {};
}

std::string encode_challenge(std::string_view nonce) {
  return dump_json({{"gpuward_nccl_pair", kProtocolVersion}, {"challenge", nonce}}) + "\n";
}

Result<std::string> decode_challenge(std::string_view line) {
  const auto json = parse_json(line, kLineLimits);
  if (!json) return std::unexpected(json.error());
  std::string nonce = string_at(*json, "challenge");
  if (!is_nonce(nonce)) return fail(ErrorKind::kInvalid, "not a gpuward challenge");
  return nonce;
}

std::string encode(const Greeting& greeting) {
  Json json = {{"gpuward_nccl_pair", greeting.version},
               {"proof", greeting.proof},
               {"host", to_valid_utf8(greeting.terms.host, kMostHostBytes)},
               {"gpus", greeting.terms.gpus},
               {"nccl", greeting.terms.nccl_version},
               {"bytes", greeting.terms.most_bytes},
               {"min_bus_bandwidth", greeting.terms.min_bus_bandwidth}};
  if (!greeting.nonce.empty()) json["nonce"] = greeting.nonce;
  if (greeting.id) json["id"] = to_hex({greeting.id->data(), greeting.id->size()});
  if (!greeting.refused.empty()) json["refused"] = to_valid_utf8(greeting.refused, kMostWordsBytes);
  return dump_json(json) + "\n";
}

std::string encode(const Message& message) {
  switch (message.kind) {
    case Message::Kind::kReady:
      return "{\"ready\":true}\n";
    case Message::Kind::kJoined:
      return "{\"joined\":true}\n";
    case Message::Kind::kReport:
      return dump_json(to_json(message.report)) + "\n";
  }
  return {};
}

Result<Greeting> decode_greeting(std::string_view line) {
  const auto json = parse_json(line, kLineLimits);
  if (!json) return std::unexpected(json.error());
  const auto version = number_at(*json, "gpuward_nccl_pair", 1, 1'000'000);
  const auto terms = terms_from(*json);
  if (!version || !terms) return fail(ErrorKind::kInvalid, "not a gpuward handshake message");
  Greeting greeting{.version = static_cast<int>(*version),
                    .nonce = string_at(*json, "nonce"),
                    .proof = string_at(*json, "proof"),
                    .terms = *terms,
                    .id = {},
                    .refused = string_at(*json, "refused")};
  if (!greeting.proof.empty() && greeting.proof.size() != kProofDigits)
    return fail(ErrorKind::kInvalid, "the proof has the wrong length");
  if (!greeting.nonce.empty() && !is_nonce(greeting.nonce))
    return fail(ErrorKind::kInvalid, "the nonce is invalid");
  if (greeting.refused != to_valid_utf8(greeting.refused, kMostWordsBytes))
    return fail(ErrorKind::kInvalid, "the refusal is too long");
  const std::string id = string_at(*json, "id");
  if (id.empty()) return greeting;
  greeting.id = id_from(id);
  if (!greeting.id) return fail(ErrorKind::kInvalid, "the ID is invalid");
  return greeting;
}

Result<Message> decode_message(std::string_view line) {
  const auto json = parse_json(line, kLineLimits);
  if (!json) return std::unexpected(json.error());
  if (member_at(*json, "ready") == true)
    return Message{.kind = Message::Kind::kReady, .report = {}};
  if (member_at(*json, "joined") == true)
    return Message{.kind = Message::Kind::kJoined, .report = {}};
  auto report = report_from(*json);
  if (!report) return fail(ErrorKind::kInvalid, "not a gpuward message");
  return Message{.kind = Message::Kind::kReport, .report = *std::move(report)};
}

std::string nccl_version_text(int version) {
  const int major = version < 10'000 ? 1'000 : 10'000;
  return std::to_string(version / major) + "." + std::to_string(version % major / 100) + "." +
         std::to_string(version % 100);
}

}  // namespace gpuward::exporter::nccl_pair
