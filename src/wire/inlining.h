// SPDX-License-Identifier: Apache-2.0
// The packet's way is compiled as a few long stretches, and what is seldom taken stands beside it: calls cost as much
// as the work of most stages.
#pragma once

#define HEDDLE_HOT [[gnu::flatten]]
#define HEDDLE_COLD [[gnu::noinline, gnu::cold]]
