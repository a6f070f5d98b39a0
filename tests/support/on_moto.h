// A suite of tests that shares one moto: base of the tests of code that calls AWS.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "tests/support/moto.h"
#include "tests/support/require.h"

namespace gpuward::support {

template <class Base = ::testing::Test>
class OnMoto : public Base {
 protected:
  static void SetUpTestSuite() {
    if (!Moto::why_unavailable().empty()) return;
    auto started = Moto::start();
    ASSERT_TRUE(started) << started.error().message;
    moto = *std::move(started);
  }
  static void TearDownTestSuite() { moto.reset(); }
  void SetUp() override { GPUWARD_REQUIRE_IN(kAll, Moto::why_unavailable()); }

  inline static std::unique_ptr<Moto> moto;
};

}  // namespace gpuward::support
