// A local copy of a collection: list, then watch with bookmarks, list again on 410, back-off 800 ms
// to 30 s with jitter. Each watch ends after 15 to 20 s and goes on from the last version seen, in
// one request and without a list, so that one which died without a word is noticed within 25 s. The
// remediator's reconcile loop is driven by it.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "core/kube/api.h"

namespace gpuward::kube {

// Called on the informer's thread, in order; must be quick.
struct InformerHandlers {
  std::function<void(const Json& object)> on_upsert;  // kube::read_* reads it
  // "name", or "namespace/name". An object re-created under its name is deleted first, with or
  // without an event.
  std::function<void(const std::string& name)> on_delete;
  std::function<void()> on_synced;  // after each complete list
  // The server has been heard: a complete list, an event, a bookmark, or the end of a watch in good
  // order. Until then it may have kept anything from us.
  std::function<void()> on_heard;
};

// Runs until `stop`; returns then (a list under way ends first, unless ApiOptions::stop ends it).
// Never gives up on errors: they go to `on_error` (may be empty).
void run_informer(Api& api, Clock& clock, const std::string& collection,
                  const InformerHandlers& handlers,
                  const std::function<void(const Error&)>& on_error, std::stop_token stop);

}  // namespace gpuward::kube
