// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>

#include <starpu.h>

/// Stands for mpi.h and starpu_mpi.h in a build without MPI (TESSERA_WITH_MPI=OFF): the names that
/// runtime/*.cpp use, for a world of one process. Nothing here is reached at run time except the queries,
/// since every call is behind size() > 1.
using MPI_Comm = int;
using MPI_Fint = int;
using MPI_Op = int;
using MPI_Request = int;
using starpu_mpi_tag_t = std::int64_t;
inline constexpr MPI_Comm MPI_COMM_NULL = -1, MPI_COMM_WORLD = 0;
inline constexpr MPI_Request MPI_REQUEST_NULL = -1;
inline constexpr int MPI_THREAD_MULTIPLE = 3, MPI_COMM_TYPE_SHARED = 0, MPI_INFO_NULL = 0,
                     STARPU_MPI_PER_NODE = -2;
inline constexpr int MPI_DOUBLE = 0, MPI_BYTE = 0, MPI_MAX = 0, MPI_SUM = 0,
                     MPI_MAX_LIBRARY_VERSION_STRING = 16;
inline constexpr int MPI_ANY_SOURCE = -1;
inline void *const MPI_IN_PLACE = nullptr, *const MPI_STATUS_IGNORE = nullptr;

inline int MPI_Initialized(int* flag) {
  return *flag = 1, 0;
}
inline int MPI_Finalized(int* flag) {
  return *flag = 1, 0;
}
inline int MPI_Init_thread(int*, char***, int, int* provided) {
  return *provided = MPI_THREAD_MULTIPLE, 0;
}
inline int MPI_Finalize() {
  return 0;
}
inline int MPI_Query_thread(int* provided) {
  return *provided = MPI_THREAD_MULTIPLE, 0;
}
inline int MPI_Comm_rank(MPI_Comm, int* rank) {
  return *rank = 0, 0;
}
inline int MPI_Comm_size(MPI_Comm, int* size) {
  return *size = 1, 0;
}
inline int MPI_Comm_dup(MPI_Comm, MPI_Comm*) {
  return 0;
}
inline int MPI_Comm_free(MPI_Comm*) {
  return 0;
}
inline int MPI_Comm_split_type(MPI_Comm, int, int, int, MPI_Comm*) {
  return 0;
}
inline MPI_Comm MPI_Comm_f2c(MPI_Fint handle) {
  return handle;
}
inline MPI_Fint MPI_Comm_c2f(MPI_Comm comm) {
  return comm;
}
inline int MPI_Get_library_version(char* text, int* length) {
  return text[0] = 0, *length = 0, 0;
}
inline int MPI_Allreduce(const void*, void*, int, int, int, MPI_Comm) {
  return 0;
}
inline int MPI_Bcast(void*, int, int, int, MPI_Comm) {
  return 0;
}
inline int MPI_Iallreduce(const void*, void*, int, int, int, MPI_Comm, MPI_Request*) {
  return 0;
}
inline int MPI_Iallgather(const void*, int, int, void*, int, int, MPI_Comm, MPI_Request*) {
  return 0;
}
inline int MPI_Iallgatherv(const void*, int, int, void*, const int*, const int*, int, MPI_Comm,
                           MPI_Request*) {
  return 0;
}
inline int MPI_Ialltoall(const void*, int, int, void*, int, int, MPI_Comm, MPI_Request*) {
  return 0;
}
inline int MPI_Igatherv(const void*, int, int, void*, const int*, const int*, int, int, MPI_Comm,
                        MPI_Request*) {
  return 0;
}
inline int MPI_Ibcast(void*, int, int, int, MPI_Comm, MPI_Request*) {
  return 0;
}
inline int MPI_Irecv(void*, int, int, int, int, MPI_Comm, MPI_Request*) {
  return 0;
}
inline int MPI_Isend(const void*, int, int, int, int, MPI_Comm, MPI_Request*) {
  return 0;
}
inline int MPI_Test(MPI_Request*, int* done, void*) {
  return *done = 1, 0;
}
inline int MPI_Wait(MPI_Request*, void*) {
  return 0;
}
inline int MPI_Cancel(MPI_Request*) {
  return 0;
}
inline int MPI_Abort(MPI_Comm, int code) {
  std::_Exit(code);
}

inline int starpu_mpi_init_conf(int*, char***, int, MPI_Comm, starpu_conf* conf) {
  return starpu_init(conf);
}
inline int starpu_mpi_shutdown() {
  return 0;
}
inline int starpu_mpi_wait_for_all(MPI_Comm) {
  return 0;
}
inline void starpu_mpi_data_register_comm(starpu_data_handle_t, starpu_mpi_tag_t, int, MPI_Comm) {}
inline void starpu_mpi_cache_flush(MPI_Comm, starpu_data_handle_t) {}
inline int starpu_mpi_cached_receive(starpu_data_handle_t) {
  return 0;
}
template <class... Arguments>
int starpu_mpi_task_insert(MPI_Comm, starpu_codelet*, Arguments...) {
  return -1;
}
