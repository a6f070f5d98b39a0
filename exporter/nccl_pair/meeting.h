// How the two sides of a pair meet: rank 0 listens, and rank 1 connects, repeatedly until the join
// time-out, since the image of its peer may still be pulled. An unknown client, or a pod of an
// earlier pair, does not know the token: rank 0 rejects it and continues to listen. Used by Pair.
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
  MakeId make_id;  // of rank 0, called at most once
  Clock& clock;
  Log& log;
};

// kTimeout if the other side never came, with the last error; kInvalid if it knows the token but
// other terms differ; the error of `make_id`.
[[nodiscard]] Result<Met> meet(const Meeting& meeting);

}  // namespace gpuward::exporter::nccl_pair
