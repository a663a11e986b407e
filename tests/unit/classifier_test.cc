// SPDX-License-Identifier: Apache-2.0
#include "ingress/classifier.h"

#include <gtest/gtest.h>

namespace heddle::classifier_test {
namespace {

// E2: bulk is of PCP 0 and all that no other one names; storage of PCP 3 and DSCP 40; control of DSCP 48 alone.
class ClassifierTest : public testing::Test {
 protected:
  enum : size_t { kBulk, kStorage, kControl };
  ClassifierTest() {
    classes_.resize(3);
    for (uint8_t position = 0; position < 3; ++position) classes_[position].ftag = position;
    classes_[kBulk].pcp_set = 0xff & ~(1 << 3);
    classes_[kStorage].pcp_set = 1 << 3;
    classes_[kStorage].dscp_set = uint64_t{1} << 40;
    classes_[kControl].pcp_set = 0;
    classes_[kControl].dscp_set = uint64_t{1} << 48;
  }
  struct Found {
    size_t position;
    bool refused;
    bool operator==(const Found&) const = default;
  };
  static Found found(const Classifier::Choice& choice) { return {choice.ftag, choice.refused}; }
  Found untagged_ip(uint8_t dscp) const {
    const Classifier classifier(classes_, port_);
    EdgeHeaders headers{};
    headers.l3 = 4;
    headers.dscp = dscp;
    EXPECT_EQ(found(classifier.classify(headers)), found(classifier.of_untagged_ip(dscp)))
        << "the short way is no other";
    return found(classifier.of_untagged_ip(dscp));
  }
  Found tagged(uint8_t pcp, uint8_t dscp = 0, uint8_t l3 = 4) const {
    EdgeHeaders headers{};
    headers.l3 = l3;
    headers.dscp = dscp;
    headers.tagged = true;
    headers.tci = static_cast<uint16_t>(pcp << 13 | 5);
    return found(Classifier(classes_, port_).classify(headers));
  }
  Found other() const { return found(Classifier(classes_, port_).classify(EdgeHeaders{})); }

  std::vector<TrafficClass> classes_;
  TopologyPort port_;
};

TEST_F(ClassifierTest, TheDscpCountsBeforeThePcp) {
  EXPECT_EQ(untagged_ip(40), (Found{kStorage, false}));
  EXPECT_EQ(untagged_ip(48), (Found{kControl, false}));
  EXPECT_EQ(untagged_ip(0), (Found{kBulk, false}));
  EXPECT_EQ(tagged(3, 48), (Found{kControl, false}));
  EXPECT_EQ(tagged(3), (Found{kStorage, false}));
  EXPECT_EQ(tagged(3, 48, 0), (Found{kStorage, false})) << "what is no IP has no DSCP";
  EXPECT_EQ(tagged(2), (Found{kBulk, false}));
  EXPECT_EQ(other(), (Found{kBulk, false}));
}

TEST_F(ClassifierTest, TheFirstPriorityAndCodePointAreAsTheOthers) {
  classes_[kControl].dscp_set = 1;
  classes_[kBulk].pcp_set = 1 << 1;
  classes_[kStorage].pcp_set = 1 << 0;
  EXPECT_EQ(untagged_ip(0), (Found{kControl, false}));
  EXPECT_EQ(untagged_ip(63), (Found{kStorage, false})) << "of PCP 0, as it names none";
  EXPECT_EQ(tagged(0, 63), (Found{kStorage, false}));
  EXPECT_EQ(tagged(1, 63), (Found{kBulk, false}));
  for (uint8_t pcp = 2; pcp < 8; ++pcp) EXPECT_EQ(tagged(pcp, 63), (Found{kBulk, false})) << "the first class";
}

TEST_F(ClassifierTest, APortHasADefaultForFramesThatNameNone) {
  port_.default_class = kStorage;
  EXPECT_EQ(untagged_ip(0), (Found{kStorage, false}));
  EXPECT_EQ(other(), (Found{kStorage, false}));
  EXPECT_EQ(untagged_ip(48), (Found{kControl, false}));
  EXPECT_EQ(tagged(0), (Found{kBulk, false})) << "a tag names one";
}

TEST_F(ClassifierTest, WithoutADefaultItIsPcp0s) {
  classes_[kBulk].pcp_set = 1 << 5;
  classes_[kStorage].pcp_set = 1;
  EXPECT_EQ(untagged_ip(0), (Found{kStorage, false}));
  EXPECT_EQ(other(), (Found{kStorage, false}));
  EXPECT_EQ(tagged(2), (Found{kBulk, false})) << "of a PCP that no class names it is the first";
}

TEST_F(ClassifierTest, WhatIsNotForItsHostsIsOfTheDefault) {
  port_.allowed_classes = 1 << kBulk | 1 << kStorage;
  EXPECT_EQ(untagged_ip(48), (Found{kBulk, true}));
  EXPECT_EQ(tagged(3, 48), (Found{kBulk, true}));
  EXPECT_EQ(tagged(3), (Found{kStorage, false}));
  EXPECT_EQ(untagged_ip(0), (Found{kBulk, false}));
  port_.allowed_classes = 1 << kStorage;
  port_.default_class = kStorage;
  EXPECT_EQ(tagged(0), (Found{kStorage, true}));
  EXPECT_EQ(other(), (Found{kStorage, false})) << "it has asked for nothing";
}

}  // namespace
}  // namespace heddle::classifier_test
