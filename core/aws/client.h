// Signed requests to AWS: region, keys, endpoint, signature, time-out, throttling and a clock that
// is wrong are its business; what to ask is the caller's. Used by the AWS provider of machines and
// by the notifiers. No message of an error ever holds a key or a token.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/aws/answer.h"
#include "core/aws/endpoint.h"
#include "core/aws/environment.h"
#include "core/aws/key_ring.h"
#include "core/aws/signer.h"
#include "core/aws/xml.h"
#include "core/http/client/client.h"
#include "core/http/syntax/url.h"
#include "core/model/permit.h"
#include "core/model/result.h"

namespace gpuward::aws {

struct AwsCall {
  AwsService service;
  std::string what;  // for messages: "TerminateInstances"
  std::string method = "POST";
  std::string path = "/";  // escaped by the caller (http::encode_path_segment), without a query
  // Of S3: in the host's name; before `path` where that cannot be, which is at an endpoint of one's
  // own, and where the bucket's name has a dot, for which no certificate holds.
  std::string bucket = {};
  HeaderFields headers = {};
  std::string body = {};
  std::string region = {};                    // empty: the one of find_region()
  std::chrono::milliseconds timeout{10'000};  // of one attempt
  // Asked before each attempt of a call that changes something: where it refuses, its error is the
  // answer, and nothing was begun.
  Permit permit = {};
  // Ends a call that only asks or that may be made twice; one that changes something else is better
  // waited for. Looking for keys or the region goes on: that ends by time-outs of its own.
  std::stop_token stop = {};
};

// A call of the query protocol: EC2, Auto Scaling, STS, SNS, CloudWatch.
struct AwsQuery {
  AwsService service;
  std::string action, version;  // "TerminateInstances", "2016-11-15"
  http::Query parameters = {};
  std::string region = {};
  // As AwsCall's.
  std::chrono::milliseconds timeout{10'000};
  Permit permit = {};
  std::stop_token stop = {};
};

// Any thread.
class AwsClient {
 public:
  // `http` and `clock` outlive it.
  AwsClient(http::Client& http, AwsEnvironment environment, Clock& clock);

  // A 2xx. What AWS has provably not begun (throttled, a signature of a wrong clock, keys that it
  // does not take while their source has others) is asked again a few times within seconds; nothing
  // else is: whether a call that timed out (kTimeout) or broke off (kUnavailable) was carried out
  // is for the caller to find out. Errors are those of kind_of(), and of the transport;
  // kOverloaded: throttled until the end; kCancelled: stopped; kUnauthenticated also without a
  // usable region, endpoint or certificate, so that kInvalid always is an answer of AWS.
  [[nodiscard]] Result<http::ClientResponse> call(const AwsCall& call);
  // The root element of the answer.
  [[nodiscard]] Result<XmlElement> query(const AwsQuery& query);

 private:
  // Where one call goes.
  struct Place {
    std::string url, path, host, region;
  };
  [[nodiscard]] Result<std::string> region();
  [[nodiscard]] Result<Place> place_of(const AwsCall& call);
  // Until it is answered by something else than "not now".
  [[nodiscard]] Result<http::ClientResponse> ask(const AwsCall& call, const Place& place);
  [[nodiscard]] Result<http::ClientResponse> ask_once(const AwsCall& call, const Place& place,
                                                      const AwsKeys& keys);
  // Whether their source has other keys than these, which AWS does not take.
  [[nodiscard]] bool has_others_than(const AwsKeys& keys);
  // Whether the clock of `answer` says that ours made the signature wrong; ours is right then.
  [[nodiscard]] bool corrects_clock(const AwsFailure& failure, const http::ClientResponse& answer);

  http::Client& http_;
  const AwsEnvironment environment_;
  Clock& clock_;
  AwsKeyRing keys_;
  std::mutex mutex_;
  std::string region_;                        // once it is known; guarded by mutex_
  std::atomic<std::chrono::seconds> offset_;  // of AWS's clock from ours
};

}  // namespace gpuward::aws
