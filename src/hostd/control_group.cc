// SPDX-License-Identifier: Apache-2.0
#include "hostd/control_group.h"

#include <mntent.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>

namespace heddle::hostd {

namespace {

std::string mounted_at() {
  std::string found;
  FILE* mounts = setmntent("/proc/self/mounts", "r");
  if (mounts == nullptr) return found;
  while (const mntent* mount = getmntent(mounts))
    if (std::string(mount->mnt_type) == "cgroup2") found = mount->mnt_dir;
  endmntent(mounts);
  return found;
}

bool has_number(const std::filesystem::path& path, uint64_t number) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && facts.st_ino == number;  // a group's number is that of its directory
}

}  // namespace

std::string control_group_path(uint64_t number) {
  namespace fs = std::filesystem;
  const std::string root = mounted_at();
  if (root.empty() || number == 0) return {};
  if (has_number(root, number)) return "/";
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error))
    if (at->is_directory(error) && has_number(at->path(), number))
      return "/" + at->path().lexically_relative(root).string();
  return {};
}

}  // namespace heddle::hostd
