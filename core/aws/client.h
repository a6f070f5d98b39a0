// Signed requests to AWS. The client handles region, keys, endpoint, signature, time-out,
// throttling and a wrong clock; the caller says what to request. Used by the AWS provider of
// machines and by the notifiers. No error message ever contains a key or a token.
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
  // For S3: part of the host's name. It precedes `path` instead if the operator configured an
  // endpoint, or if the bucket's name has a dot, which AWS's certificate does not cover.
  std::string bucket = {};
  HeaderFields headers = {};
  std::string body = {};
  std::string region = {};                    // empty: the one of find_region()
  std::chrono::milliseconds timeout{10'000};  // of one attempt
  // Asked before each attempt of a call that changes something. If it refuses, its error is the
  // result, and nothing was begun.
  Permit permit = {};
  // Cancels the call. Set it only for a call that reads or that may be repeated; wait for one that
  // changes something. It does not cancel the search for keys or the region, which has its own
  // time-outs.
  std::stop_token stop = {};
};

// A call of the query protocol: EC2, Auto Scaling, STS, SNS, CloudWatch.
struct AwsQuery {
  AwsService service;
  std::string action, version;  // "TerminateInstances", "2016-11-15"
  http::Query parameters = {};
  std::string region = {};
  // The same as in AwsCall.
  std::chrono::milliseconds timeout{10'000};
  Permit permit = {};
  std::stop_token stop = {};
};

// Thread-safe.
class AwsClient {
 public:
  // `http` and `clock` outlive it.
  AwsClient(http::Client& http, AwsEnvironment environment, Clock& clock);

  // Returns a response with status 2xx. The client retries a few times within seconds, but only
  // what AWS has provably not begun: throttled calls, signatures made with a wrong clock, and
  // rejected keys if their source has others. If a call timed out (kTimeout) or broke off
  // (kUnavailable), the caller must find out whether it was carried out. Errors are those of
  // kind_of() and of the transport; kOverloaded: throttled to the end; kCancelled: stopped;
  // kUnauthenticated also without a usable region, endpoint or certificate, so that kInvalid always
  // comes from AWS.
  [[nodiscard]] Result<http::ClientResponse> call(const AwsCall& call);
  // Returns the root element of the response.
  [[nodiscard]] Result<XmlElement> query(const AwsQuery& query);

 private:
  // The address of one call.
  struct Place {
    std::string url, path, host, region;
  };
  [[nodiscard]] Result<std::string> region();
  [[nodiscard]] Result<Place> place_of(const AwsCall& call);
  // Asks until AWS answers with something other than "not now".
  [[nodiscard]] Result<http::ClientResponse> ask(const AwsCall& call, const Place& place);
  [[nodiscard]] Result<http::ClientResponse> ask_once(const AwsCall& call, const Place& place,
                                                      const AwsKeys& keys);
  // Drops these keys, which AWS rejected; returns whether their source has others.
  [[nodiscard]] bool has_others_than(const AwsKeys& keys);
  // Whether `answer` shows that a wrong clock made the signature invalid; sets offset_ then.
  [[nodiscard]] bool corrects_clock(const AwsFailure& failure, const http::ClientResponse& answer);

  http::Client& http_;
  const AwsEnvironment environment_;
  Clock& clock_;
  AwsKeyRing keys_;
  std::mutex mutex_;
  std::string region_;                        // empty until it is known; guarded by mutex_
  std::atomic<std::chrono::seconds> offset_;  // of AWS's clock from this machine's
};

}  // namespace gpuward::aws
