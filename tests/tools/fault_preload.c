// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// LD_PRELOAD library for tests. The TESSERA_FAULT_NTH-th call (from 1) of TESSERA_FAULT_CALL fails
// with the error number TESSERA_FAULT_ERROR, and so do all later calls if TESSERA_FAULT_STAYS is
// set. With TESSERA_FAULT_KILLS set it ends the process by SIGKILL instead. Only calls on paths that contain TESSERA_FAULT_PATH count. Calls: write (with pwrite),
// fsync, close, rename, link.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int calls;

static int fails(const char* call, const char* path) {
  const char *wanted = getenv("TESSERA_FAULT_CALL"), *part = getenv("TESSERA_FAULT_PATH");
  if (!wanted || !part || strcmp(wanted, call) != 0 || !strstr(path, part)) return 0;
  const char *nth = getenv("TESSERA_FAULT_NTH"), *number = getenv("TESSERA_FAULT_ERROR");
  const int here = atomic_fetch_add(&calls, 1) + 1, from = nth ? atoi(nth) : 1;
  if (here != from && !(here > from && getenv("TESSERA_FAULT_STAYS"))) return 0;
  if (getenv("TESSERA_FAULT_KILLS")) raise(SIGKILL);
  errno = number ? atoi(number) : EIO;
  return 1;
}

static int descriptor_fails(const char* call, int descriptor) {
  if (!getenv("TESSERA_FAULT_CALL")) return 0;
  char link[64], path[4096];
  const int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  errno = before;
  if (size < 0) return 0;
  path[size] = '\0';
  return fails(call, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void* bytes, size_t size) {
  return descriptor_fails("write", descriptor) ? -1 : REAL(write)(descriptor, bytes, size);
}
ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t at) {
  return descriptor_fails("write", descriptor) ? -1 : REAL(pwrite)(descriptor, bytes, size, at);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t at) {
  return descriptor_fails("write", descriptor) ? -1 : REAL(pwrite64)(descriptor, bytes, size, at);
}
int fsync(int descriptor) {
  return descriptor_fails("fsync", descriptor) ? -1 : REAL(fsync)(descriptor);
}
int close(int descriptor) {
  if (!descriptor_fails("close", descriptor)) return REAL(close)(descriptor);
  const int error = errno;
  REAL(close)(descriptor);
  errno = error;
  return -1;
}
int rename(const char* from, const char* to) {
  return fails("rename", to) ? -1 : REAL(rename)(from, to);
}
int link(const char* from, const char* to) {
  return fails("link", to) ? -1 : REAL(link)(from, to);
}
