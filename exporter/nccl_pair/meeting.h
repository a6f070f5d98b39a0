// How the two sides of a pair find each other: rank 0 listens, rank 1 comes, again and again until
// the join time-out, since its peer's image may still be pulled. An unknown client, or a pod of an
// earlier pair, does not know the token: it is turned away, and the meeting goes on. Used by Pair.
#pragma once

#include <functional>
#include <string>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/nccl_pair/link.h"
#include "exporter/nccl_pair/message.h"
#include "exporter/nccl_pair/options.h"

namespace gpuward::exporter::nccl_pair {

struct Met {
  Link link;
  Terms theirs;
  UniqueId id{};
};

using MakeId = std::function<Result<UniqueId>()>;  // AllReduce's

struct Meeting {
  const Options& options;
  const Terms& mine;
  MakeId make_id;  // rank 0's, called at most once
  Clock& clock;
  Log& log;
};

// kTimeout where the other side never came, with the last that went wrong; kInvalid where it knows
// the token and something else differs; the error of `make_id`.
[[nodiscard]] Result<Met> meet(const Meeting& meeting);

}  // namespace gpuward::exporter::nccl_pair
