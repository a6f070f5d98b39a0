// manifests/remediator-admission.yaml on a real kube-apiserver: which accounts may approve, and
// which may not annotate at all. By RBAC alone all accounts of this test could write anything.
#include <gmock/gmock.h>

#include <string>

#include "core/http/client/client.h"
#include "core/kube/connection.h"
#include "remediator/act/guard_probe.h"
#include "tests/support/http_get.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/plane_hands.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRem = "/apis/gpuward.dev/v1alpha1/remediations/gpu-01-1";
constexpr const char* kApproveKey = "gpuward.dev/approve";
constexpr const char* kByKey = "gpuward.dev/approved-by";
constexpr const char* kOtherHumanToken = "other-human-token-0123456789";
constexpr const char* kOurAccounts[] = {
    kRemediatorUser, "system:serviceaccount:gpu-healthcheck:gpu-healthcheck-agent",
    "system:serviceaccount:gpu-healthcheck:gpu-healthcheck-quarantine",
    "system:serviceaccount:gpu-healthcheck:gpu-healthcheck-sweeper"};

// The token of kOurAccounts[i] with every right. The remediator also has its own token.
std::string almighty_token(std::size_t i) {
  return "almighty-token-" + std::to_string(i) + "-0123";
}

class ApprovalAdmission : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!support::ControlPlane::why_unavailable().empty()) return;
    support::ControlPlaneOptions options;
    options.users.push_back({kOtherHumanToken, "joe@example.com", {"system:masters"}});
    for (std::size_t i = 0; i < std::size(kOurAccounts); ++i)
      options.users.push_back({almighty_token(i), kOurAccounts[i], {"system:masters"}});
    hands_ = std::make_unique<PlaneHands>(std::move(options));
    hands_->create("/apis/gpuward.dev/v1alpha1/remediations", remediation("gpu-01-1"));
    auto config = kube::find_cluster(hands_->kubeconfig(), "");
    ASSERT_TRUE(config) << config.error().message;
    connection_ =
        std::make_unique<kube::Connection>(std::move(*config), "gpuward-tests", lasting_clock());
    api_ = connection_->make_api({});
    wait_for_guard(true);
  }
  static void TearDownTestSuite() {
    api_.reset();
    connection_.reset();
    hands_.reset();
  }
  // kube-apiserver compiles changed policies once a second, so that they come into force a moment
  // after they were applied. The probe must change nothing meanwhile. A request that writes the
  // values already in place proves nothing: neither policy ever refuses it.
  static void wait_for_guard(bool guards) {
    GuardProbe probe(*api_, lasting_clock());
    ASSERT_TRUE(support::wait_until(
        [&] { return probe.check(std::chrono::milliseconds(0)).has_value() == guards; },
        "the guard"))
        << (*probe.last() ? "" : probe.last()->error().message);
  }
  void SetUp() override {
    GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
    must(kHumanToken, {{kApproveKey, nullptr},
                       {kByKey, nullptr},
                       {"gpuward.dev/pause", nullptr},
                       {"gpuward.dev/cancel", nullptr}});
  }

  static Json remediation(const std::string& name) {
    return {{"apiVersion", "gpuward.dev/v1alpha1"},
            {"kind", "Remediation"},
            {"metadata", {{"name", name}}},
            {"spec", {{"nodeName", "gpu-01"}, {"nodeUID", "u"}, {"severity", "reboot"}}}};
  }
  static http::ClientResponse send(const std::string& token, const std::string& method,
                                   const std::string& path, const Json& body) {
    http::ClientRequest request;
    request.method = method;
    request.url = hands_->plane().url() + path;
    request.headers = {
        {"Authorization", "Bearer " + token},
        {"Content-Type", method == "PATCH" ? "application/merge-patch+json" : "application/json"}};
    request.body = dump_json(body);
    request.timeout = support::kGenerousRequest;
    http::ClientTls tls;
    tls.ca_pem = hands_->plane().ca_pem();
    return support::http_send(std::move(request), std::move(tls));
  }
  static http::ClientResponse annotate(const std::string& token, const Json& annotations) {
    return send(token, "PATCH", kRem, {{"metadata", {{"annotations", annotations}}}});
  }
  static bool allowed(const std::string& token, const Json& annotations) {
    return annotate(token, annotations).status == 200;
  }
  static void must(const std::string& token, const Json& annotations) {
    const auto answer = annotate(token, annotations);
    EXPECT_EQ(answer.status, 200) << answer.body;
  }
  static void expect_denied(const http::ClientResponse& answer, const std::string& why) {
    EXPECT_EQ(answer.status, 403) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr(why));
  }

  static inline std::unique_ptr<PlaneHands> hands_;
  static inline std::unique_ptr<kube::Connection> connection_;
  static inline std::unique_ptr<kube::Api> api_;
};

// Each policy by itself, as an operator may lose one of them.
TEST_F(ApprovalAdmission, TheProbeSeesWhichPolicyIsNotInForceAndWhenItIsAgain) {
  const std::string manifest = GPUWARD_SOURCE_DIR "/manifests/remediator-admission.yaml";
  for (const std::string policy : {"gpuward-approvals", "gpuward-humans-decide"}) {
    const auto gone = hands_->plane().kubectl(
        {"delete", "validatingadmissionpolicybinding", policy, "--wait=true"});
    ASSERT_EQ(gone->exit_code, 0) << gone->error_output;
    wait_for_guard(false);
    GuardProbe probe(*api_, lasting_clock());
    const Status seen = probe.check(std::chrono::milliseconds(0));
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().kind, ErrorKind::kRefused);
    EXPECT_THAT(seen.error().message, HasSubstr(policy + " is not in force"));
    ASSERT_TRUE(hands_->plane().apply(manifest));
    wait_for_guard(true);
  }
  EXPECT_FALSE(hands_->has("/apis/gpuward.dev/v1alpha1/remediations/gpuward-guard-probe"));
}

// The probe's exception is for a name that no account has, and lets nothing through.
TEST_F(ApprovalAdmission, NoAccountOfOursIsLetThroughUnderTheNameOfTheProbe) {
  Json object = remediation("gpu-01-3");
  object["metadata"]["annotations"] = {{kByKey, "gpuward-guard-probe"}};
  for (std::size_t i = 0; i < std::size(kOurAccounts); ++i) {
    const auto made =
        send(almighty_token(i), "POST", "/apis/gpuward.dev/v1alpha1/remediations", object);
    expect_denied(made, "an approval is given under one's own name");
    EXPECT_EQ(annotate(almighty_token(i), {{kByKey, "gpuward-guard-probe"}}).status, 403);
  }
}

TEST_F(ApprovalAdmission, AHumanApprovesUnderHisOwnNameAndTakesItBack) {
  must(kHumanToken, {{kApproveKey, "t1"}, {kByKey, kHuman}});
  must(kHumanToken, {{kApproveKey, "t2"}});
  must(kHumanToken, {{kApproveKey, nullptr}, {kByKey, nullptr}});
}

TEST_F(ApprovalAdmission, NobodyApprovesInAnothersName) {
  constexpr const char* kWhy = "gpuward.dev/approved-by must be jane@example.com";
  expect_denied(annotate(kHumanToken, {{kApproveKey, "t"}, {kByKey, "joe@example.com"}}), kWhy);
  expect_denied(annotate(kHumanToken, {{kApproveKey, "t"}}), kWhy);
  expect_denied(annotate(kHumanToken, {{kByKey, "joe@example.com"}}), kWhy);
}

TEST_F(ApprovalAdmission, AnApprovalMovesToNoOtherStepUnderTheNameOfWhoGaveIt) {
  must(kOtherHumanToken, {{kApproveKey, "t1"}, {kByKey, "joe@example.com"}});

  expect_denied(annotate(kHumanToken, {{kApproveKey, "t2"}}), "must be jane@example.com");
  expect_denied(annotate(kHumanToken, {{kApproveKey, nullptr}}), "must be jane@example.com");

  must(kHumanToken, {{"gpuward.dev/pause", "true"}});  // beside another operator's approval
  must(kHumanToken, {{kApproveKey, "t2"}, {kByKey, kHuman}});
}

TEST_F(ApprovalAdmission, NobodyMakesARemediationThatIsApprovedByAnother) {
  Json object = remediation("gpu-01-2");
  object["metadata"]["annotations"] = {{kApproveKey, "t"}, {kByKey, "joe@example.com"}};

  expect_denied(send(kHumanToken, "POST", "/apis/gpuward.dev/v1alpha1/remediations", object),
                "must be jane@example.com");
}

// Else a right to pause would be one to have a machine replaced.
TEST_F(ApprovalAdmission, OnlyTheRemediatorChangesMoreThanAnnotations) {
  const auto change = [](const std::string& token, const Json& patch) {
    return send(token, "PATCH", kRem, patch);
  };
  const Json severity = {{"spec", {{"severity", "isolate"}}}};
  const Json owner = {
      {"metadata",
       {{"ownerReferences", Json::array({{{"apiVersion", "v1"},
                                          {"kind", "Node"},
                                          {"name", "gpu-01"},
                                          {"uid", "0aa8ee8c-2b0e-4a2c-8f0e-5f0f7a3c5a11"}}})}}}};
  const Json finalizer = {{"metadata", {{"finalizers", Json::array({"example.com/keep"})}}}};
  for (const std::string& token : {std::string(kHumanToken), almighty_token(1)}) {
    expect_denied(change(token, severity), "only the remediator changes the spec of a Remediation");
    for (const Json& patch : {owner, finalizer})
      expect_denied(change(token, patch), "only the remediator changes owners and finalizers");
  }
  EXPECT_EQ(change(almighty_token(0), severity).status, 200);
  EXPECT_EQ(change(almighty_token(0), {{"spec", {{"severity", "reboot"}}}}).status, 200);
}

// Else the garbage collector could not end a deletion in the foreground.
TEST_F(ApprovalAdmission, WhatIsDeletedLosesItsFinalizers) {
  const std::string path = "/apis/gpuward.dev/v1alpha1/remediations";
  Json object = remediation("gpu-01-4");
  object["metadata"]["finalizers"] = {"example.com/keep"};
  ASSERT_EQ(send(kHumanToken, "POST", path, object).status, 201);
  ASSERT_EQ(send(kHumanToken, "DELETE", path + "/gpu-01-4", Json::object()).status, 200);
  const Json none = {{"metadata", {{"finalizers", nullptr}}}};
  EXPECT_EQ(send(kHumanToken, "PATCH", path + "/gpu-01-4", none).status, 200);
  EXPECT_FALSE(hands_->has(path + "/gpu-01-4"));
}

TEST_F(ApprovalAdmission, NoAccountOfOursSaysWhatHumansSay) {
  for (std::size_t i = 0; i < std::size(kOurAccounts); ++i) {
    const std::string token = almighty_token(i);
    expect_denied(annotate(token, {{kApproveKey, "t"}, {kByKey, kOurAccounts[i]}}),
                  "this account may not change the annotations gpuward.dev/approve");
    expect_denied(annotate(token, {{"gpuward.dev/pause", "true"}}), "gpuward.dev/pause");
    expect_denied(annotate(token, {{"gpuward.dev/cancel", "true"}}), "gpuward.dev/cancel");
    expect_denied(annotate(token, {{"gpuward.dev/machine-replaced", "true"}}),
                  "gpuward.dev/machine-replaced");
    must(token, {{"something.else", std::to_string(i)}});
  }
}

TEST_F(ApprovalAdmission, NoAccountOfOursTakesBackWhatHumansHaveSaid) {
  must(kHumanToken, {{kApproveKey, "t"}, {kByKey, kHuman}, {"gpuward.dev/pause", "true"}});

  for (std::size_t i = 0; i < std::size(kOurAccounts); ++i) {
    const std::string token = almighty_token(i);
    expect_denied(annotate(token, {{"gpuward.dev/pause", nullptr}}), "gpuward.dev/pause");
    expect_denied(annotate(token, {{kApproveKey, nullptr}, {kByKey, nullptr}}),
                  "gpuward.dev/approve");
    const auto answer = send(token, "PATCH", kRem, {{"spec", {{"severity", "reboot"}}}});
    EXPECT_EQ(answer.status, 200) << answer.body;  // new evidence, at the same time
  }
}

}  // namespace
}  // namespace gpuward::remediator
