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

// A group's number is that of its directory.
uint64_t number_of(const std::filesystem::path& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

}  // namespace

std::map<uint64_t, std::string> control_group_paths() {
  namespace fs = std::filesystem;
  std::map<uint64_t, std::string> paths;
  const std::string root = mounted_at();
  if (root.empty()) return paths;
  paths[number_of(root)] = "/";
  std::error_code error;
  for (fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error))
    if (at->is_directory(error)) paths[number_of(at->path())] = "/" + at->path().lexically_relative(root).string();
  return paths;
}

}  // namespace heddle::hostd
