// A token that somebody else renews in a file, as the kubelet does with a service account's. Inside
// core/kube only.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "core/kube/config.h"

namespace gpuward::kube {

class TokenFileCredentials final : public Credentials {
 public:
  TokenFileCredentials(std::filesystem::path path, Clock& clock);
  // Reads the file again every 30 s (a projected token may live 10 minutes) and after a rejection.
  // A failed read keeps the token of before; an error only where there has never been one.
  Result<std::string> authorization() override;
  void reject(const std::string& authorization) override;

 private:
  Status read();

  const std::filesystem::path path_;
  Clock& clock_;
  std::mutex mutex_;
  std::string authorization_;
  Clock::Steady read_again_at_{};
};

}  // namespace gpuward::kube
