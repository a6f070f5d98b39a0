// What the two sides of a pair say to each other: lines of JSON, in this order.
//   rank 0  its challenge: a nonce that it has for this connection alone
//   rank 1  its greeting, with a nonce of its own and a proof for both
//   rank 0  its greeting and proof, with an id if rank 1 may come in, else with a word why not
//   rank 1  ready
//   both    joined, once NCCL has them in one communicator; then one report, and the end
// Nothing of it is trusted: what is not exactly this is refused. Pure; used by the meeting and
// Peer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "exporter/nccl_pair/figures.h"

namespace gpuward::exporter::nccl_pair {

constexpr int kProtocolVersion = 2;
constexpr std::size_t kMostMessageBytes = 4096;  // of a line, its end included
constexpr std::size_t kMostWordsBytes = 512;
constexpr unsigned kMostGpus = 64;  // of a side

// What both sides must have alike, but for the host and the memory.
struct Terms {
  std::string host;
  unsigned gpus = 0;             // of a side: 1 to kMostGpus
  int nccl_version = 0;          // as AllReduce says it
  std::uint64_t most_bytes = 0;  // for one message; the smaller counts
  double min_bus_bandwidth = 0;  // GB/s
};

// Each rank chooses one for each connection. A recorded handshake has proofs for other nonces.
struct Nonces {
  std::string of_rank_0, of_rank_1;
};
[[nodiscard]] std::string make_nonce();

struct Greeting {
  int version = kProtocolVersion;
  std::string nonce;  // of rank 1; empty of rank 0, whose challenge has it
  std::string proof;  // proof_of(); empty where the sender does not believe the other side
  Terms terms;
  std::optional<UniqueId> id;
  std::string refused;
};

// Shows that `rank` knows the token, without saying it, on the connection that has these nonces.
[[nodiscard]] std::string proof_of(std::string_view token, int rank, const Nonces& nonces);
// In constant time.
[[nodiscard]] bool proves(std::string_view proof, std::string_view token, int rank,
                          const Nonces& nonces);

// Why these two cannot be a pair; empty where they can.
[[nodiscard]] std::string difference_of(const Greeting& mine, const Greeting& theirs);

struct SideResult {
  enum class Kind : std::uint8_t {
    kMeasured,
    kFailed,   // an error of NCCL, of a GPU or of CUDA after both sides had joined
    kHangs,    // all_reduce has not ended in time
    kUnknown,  // what went wrong says nothing of the two nodes
    kGaveUp    // the other side's report had come
  };
  Kind kind = Kind::kUnknown;
  std::string words;  // for people, of all but kMeasured: at most kMostWordsBytes
  Figures figures;    // of kMeasured
};

struct Message {
  enum class Kind : std::uint8_t { kReady, kJoined, kReport };
  Kind kind = Kind::kReady;
  SideResult report;  // of kReport
};

// The challenge with this nonce, and the nonce of a challenge.
[[nodiscard]] std::string encode_challenge(std::string_view nonce);
[[nodiscard]] Result<std::string> decode_challenge(std::string_view line);

// With its line end; what is too long of words is cut.
[[nodiscard]] std::string encode(const Greeting& greeting);
[[nodiscard]] std::string encode(const Message& message);
// Without its line end. kInvalid or kTooLarge for all that encode() does not say.
[[nodiscard]] Result<Greeting> decode_greeting(std::string_view line);
[[nodiscard]] Result<Message> decode_message(std::string_view line);

// 22304 -> "2.23.4", 2804 -> "2.8.4" (NCCL_VERSION in nccl.h).
[[nodiscard]] std::string nccl_version_text(int version);

}  // namespace gpuward::exporter::nccl_pair
