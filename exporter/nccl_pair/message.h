// The messages between the two sides of a pair: lines of JSON, in this order.
//   rank 0  its challenge: a nonce for this connection only
//   rank 1  its greeting, with its own nonce and a proof for both
//   rank 0  its greeting and proof, with an id if rank 1 is accepted, else with the reason
//   rank 1  ready
//   both    joined, once NCCL has them in one communicator; then one report, and the end
// The input is untrusted: any other message is rejected. Pure; used by the meeting and Peer.
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

// The terms of a side. Both sides must have the same, except for the host and the memory.
struct Terms {
  std::string host;
  unsigned gpus = 0;             // of a side: 1 to kMostGpus
  int nccl_version = 0;          // from AllReduce
  std::uint64_t most_bytes = 0;  // for one message; the smaller counts
  double min_bus_bandwidth = 0;  // GB/s
};

// Each rank chooses a new one for each connection, so that a recorded handshake cannot be replayed.
struct Nonces {
  std::string of_rank_0, of_rank_1;
};
[[nodiscard]] std::string make_nonce();

struct Greeting {
  int version = kProtocolVersion;
  std::string nonce;  // of rank 1; empty for rank 0, whose challenge has it
  std::string proof;  // proof_of(); empty if the sender does not trust the other side
  Terms terms;
  std::optional<UniqueId> id;
  std::string refused;
};

// Proves that `rank` knows the token, without sending it, on the connection with these nonces.
[[nodiscard]] std::string proof_of(std::string_view token, int rank, const Nonces& nonces);
// In constant time.
[[nodiscard]] bool proves(std::string_view proof, std::string_view token, int rank,
                          const Nonces& nonces);

// Returns why these two cannot be a pair; empty if they can.
[[nodiscard]] std::string difference_of(const Greeting& mine, const Greeting& theirs);

struct SideResult {
  enum class Kind : std::uint8_t {
    kMeasured,
    kFailed,   // an error of NCCL, of a GPU or of CUDA after both sides had joined
    kHangs,    // all_reduce did not end in time
    kUnknown,  // an error that says nothing about the two nodes
    kGaveUp    // the other side had ended early (Peer)
  };
  Kind kind = Kind::kUnknown;
  std::string words;  // for operators, except of kMeasured: at most kMostWordsBytes
  Figures figures;    // of kMeasured
};

struct Message {
  enum class Kind : std::uint8_t { kReady, kJoined, kReport };
  Kind kind = Kind::kReady;
  SideResult report;  // of kReport
};

// Encodes the challenge with this nonce; decodes the nonce of a challenge.
[[nodiscard]] std::string encode_challenge(std::string_view nonce);
[[nodiscard]] Result<std::string> decode_challenge(std::string_view line);

// With its line end; words that are too long are cut.
[[nodiscard]] std::string encode(const Greeting& greeting);
[[nodiscard]] std::string encode(const Message& message);
// Without its line end. kInvalid or kTooLarge for anything that encode() does not write.
[[nodiscard]] Result<Greeting> decode_greeting(std::string_view line);
[[nodiscard]] Result<Message> decode_message(std::string_view line);

// 22304 -> "2.23.4", 2804 -> "2.8.4" (NCCL_VERSION in nccl.h).
[[nodiscard]] std::string nccl_version_text(int version);

}  // namespace gpuward::exporter::nccl_pair
