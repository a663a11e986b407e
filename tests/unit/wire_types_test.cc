// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "wire/types.h"

namespace heddle::wire_types_test {
namespace {

TEST(SerialNumbers, AreComparedAcrossTheirWrap) {
  EXPECT_TRUE(serial_before(0xfffffff0, 5));
  EXPECT_FALSE(serial_before(5, 0xfffffff0));
  EXPECT_FALSE(serial_before(5, 5));
  EXPECT_EQ(serial_distance(0xfffffff0, 5), 21);
  EXPECT_EQ(serial_distance(5, 0xfffffff0), -21);
}

}  // namespace
}  // namespace heddle::wire_types_test
