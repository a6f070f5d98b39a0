// A Loki in memory behind the http::Client: query_range with its selectors, filters, limits and
// error texts, as recorded from a real one in tests/testdata/loki.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"

namespace gpuward::fakes {

// Any thread.
class FakeLoki final : public http::Client {
 public:
  using Labels = std::map<std::string, std::string>;

  explicit FakeLoki(Clock& clock) : clock_(clock) {}

  void push(const Labels& labels, std::int64_t at, const std::string& text);
  // Sets its clock ahead of the test's.
  void set_ahead(std::chrono::seconds ahead) { ahead_ = ahead; }
  void require_tenant(std::string tenant) { tenant_ = std::move(tenant); }
  // Answers with this error instead of lines until the error is removed.
  void fail_with(std::optional<Error> error) { error_ = std::move(error); }
  // Answers with more lines than these become kTooLarge, as with the client's limit.
  void cap(std::size_t lines) { cap_ = lines; }
  // max_entries_limit_per_query and max_query_length of its limits_config.
  void limit_lines(std::size_t lines) { most_lines_ = lines; }
  void limit_range(std::chrono::minutes range) { longest_range_ = range; }

  Result<http::ClientResponse> send(const http::ClientRequest& request) override;
  Result<http::ClientResponse> stream(const http::ClientRequest& request, std::chrono::milliseconds,
                                      std::stop_token,
                                      const std::function<bool(std::string_view)>&) override {
    return send(request);
  }
  [[nodiscard]] std::size_t questions() const { return questions_; }

 private:
  struct Entry {
    Labels labels;
    std::int64_t at = 0;
    std::string text;
  };
  [[nodiscard]] Result<http::ClientResponse> answer(const Labels& parameters);

  Clock& clock_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::chrono::seconds ahead_{0};
  std::string tenant_;
  std::optional<Error> error_;
  std::size_t cap_ = 1'000'000;
  std::size_t most_lines_ = 5'000;
  std::chrono::minutes longest_range_{std::chrono::hours(721)};
  std::size_t questions_ = 0;
};

}  // namespace gpuward::fakes
