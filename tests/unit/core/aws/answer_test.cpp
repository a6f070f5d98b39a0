#include "core/aws/answer.h"

#include <gtest/gtest.h>

namespace gpuward::aws {
namespace {

http::ClientResponse answered(int status, std::string body,
                              std::vector<std::pair<std::string, std::string>> headers = {}) {
  return {status, std::move(headers), std::move(body)};
}

TEST(Answer, OfEc2IsRead) {
  const auto failure = read_failure(answered(
      400,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error>"
      "<Code>OperationNotPermitted</Code><Message>The instance 'i-1' may not be terminated. Modify "
      "its 'disableApiTermination' instance attribute and try again.</Message></Error></Errors>"
      "<RequestID>59dbff89-35bd-4eac-99ed-be587EXAMPLE</RequestID></Response>"));
  EXPECT_EQ(kind_of(failure), ErrorKind::kRefused);
  EXPECT_EQ(words_of(failure),
            "OperationNotPermitted: The instance 'i-1' may not be terminated. Modify its "
            "'disableApiTermination' instance attribute and try again.");
}

// It describes the policies, and AWS encodes it differently each time.
TEST(Answer, LeavesOutTheEncodedFailureMessage) {
  const auto failure = read_failure(
      answered(403,
               "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not "
               "authorized to perform this operation. Encoded authorization failure message: "
               "4GIOHlTkIaWHQD0Q0m6XSnuUMCm-abcdefghijklmn</Message></Error></Errors></Response>"));
  EXPECT_EQ(words_of(failure),
            "UnauthorizedOperation: You are not authorized to perform this operation.");
}

TEST(Answer, OfTheOtherQueryServicesIsRead) {
  const auto failure = read_failure(
      answered(400,
               "<ErrorResponse xmlns=\"http://autoscaling.amazonaws.com/doc/2011-01-01/\"><Error>"
               "<Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error>"
               "<RequestId>r-1</RequestId></ErrorResponse>"));
  EXPECT_EQ(kind_of(failure), ErrorKind::kOverloaded);
  EXPECT_EQ(words_of(failure), "Throttling: Rate exceeded");
}

TEST(Answer, OfJsonServicesIsReadFromHeaderOrBody) {
  const auto by_header = read_failure(
      answered(429, R"({"Reason":"x","message":"Rate Exceeded."})",
               {{"x-amzn-ErrorType", "TooManyRequestsException:http://internal.amazon.com/x"},
                {"x-amzn-RequestId", "r-2"}}));
  EXPECT_EQ(kind_of(by_header), ErrorKind::kOverloaded);
  EXPECT_EQ(words_of(by_header), "TooManyRequestsException: Rate Exceeded.");
  const auto by_body = read_failure(
      answered(400, R"({"__type":"com.amazonaws.x#ResourceNotFoundException","Message":"no"})"));
  EXPECT_EQ(kind_of(by_body), ErrorKind::kNotFound);
  EXPECT_EQ(words_of(by_body), "ResourceNotFoundException: no");
}

TEST(Answer, EachCodeHasItsKindAndOthersTheirStatus) {
  const auto kind = [](const std::string& code, int status) {
    return kind_of({.code = code, .message = {}, .status = status});
  };
  EXPECT_EQ(kind("RequestLimitExceeded", 503), ErrorKind::kOverloaded);
  EXPECT_EQ(kind("SlowDown", 503), ErrorKind::kOverloaded);
  EXPECT_EQ(kind("ThrottlingException", 400), ErrorKind::kOverloaded);
  EXPECT_EQ(kind("UnauthorizedOperation", 403), ErrorKind::kForbidden);
  EXPECT_EQ(kind("AccessDeniedException", 400), ErrorKind::kForbidden);
  EXPECT_EQ(kind("AuthFailure", 401), ErrorKind::kUnauthenticated);
  EXPECT_EQ(kind("ExpiredTokenException", 400), ErrorKind::kUnauthenticated);
  EXPECT_EQ(kind("InvalidInstanceID.NotFound", 400), ErrorKind::kNotFound);
  EXPECT_EQ(kind("IncorrectInstanceState", 400), ErrorKind::kRefused);
  EXPECT_EQ(kind("ScalingActivityInProgress", 400), ErrorKind::kBlocked);
  EXPECT_EQ(kind("InsufficientInstanceCapacity", 500), ErrorKind::kBlocked);
  EXPECT_EQ(kind("InternalError", 500), ErrorKind::kUnavailable);
  EXPECT_EQ(kind("ValidationError", 400), ErrorKind::kInvalid);
  EXPECT_EQ(kind("", 502), ErrorKind::kUnavailable);
  EXPECT_EQ(kind("", 403), ErrorKind::kForbidden);
  EXPECT_EQ(kind("", 429), ErrorKind::kOverloaded);
}

TEST(Answer, OfSomebodyElseIsItsStatus) {
  EXPECT_EQ(words_of(read_failure(answered(502, "<html><body>Bad Gateway"))), "HTTP 502");
  EXPECT_EQ(words_of(read_failure(answered(500, ""))), "HTTP 500");
}

// AWS repeats the canonical request there, with the token of the session in it.
TEST(Answer, KeepsOfAMessageItsFirstLineOnly) {
  const auto failure = read_failure(answered(
      403,
      "<Response><Errors><Error><Code>SignatureDoesNotMatch</Code><Message>The request signature "
      "we calculated does not match.\n\nThe Canonical String should have been\n"
      "x-amz-security-token:SECRET</Message></Error></Errors></Response>"));
  EXPECT_EQ(words_of(failure),
            "SignatureDoesNotMatch: The request signature we calculated does not match.");
}

}  // namespace
}  // namespace gpuward::aws
