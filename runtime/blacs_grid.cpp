// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <dlfcn.h>

#include <tessera/error.hpp>
#include <tessera/runtime/blacs_grid.hpp>
#include <tessera/runtime/default_runtime.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::detail {

namespace {

/// A function of BLACS' C interface.
template <class Function>
Function* blacs_function(const char* name) {
  void* const found = ::dlsym(RTLD_DEFAULT, name);
  if (!found)
    throw RuntimeError(std::string("the program has no BLACS (") + name +
                       "): link it with ScaLAPACK, as a shared library or with -rdynamic");
  return reinterpret_cast<Function*>(found);
}

struct Place {
  int rows = -1, cols = -1, row = -1, col = -1;
  int rank() const noexcept { return row * cols + col; }
};

Place place_in(int context) {
  Place place;
  blacs_function<void(int, int*, int*, int*, int*)>("Cblacs_gridinfo")(context, &place.rows, &place.cols,
                                                                       &place.row, &place.col);
  if (place.row < 0 || place.col < 0)
    throw RuntimeError("this process is not in the BLACS context " + std::to_string(context));
  return place;
}

[[noreturn]] void refuse_other_processes() {
  throw RuntimeError(
      "the Runtime that is alive is on other processes than those of the BLACS context: end it there first "
      "(tessera_end_default_runtime)");
}

#if TESSERA_WITH_MPI

/// The processes of the context, along the rows of its grid.
class GridCommunicator {
 public:
  GridCommunicator(int context, const Place& place) {
    constexpr int of_context = 10;  // what blacs_get is asked for
    int handle = 0;
    blacs_function<void(int, int, int*)>("Cblacs_get")(context, of_context, &handle);
    const MPI_Comm processes = blacs_function<MPI_Comm(int)>("Cblacs2sys_handle")(handle);
    int size = 0;
    MPI_Comm_size(processes, &size);
    if (size != place.rows * place.cols)
      throw RuntimeError("BLACS gives a communicator of " + std::to_string(size) +
                         " processes for a grid of " + std::to_string(place.rows * place.cols));
    MPI_Comm_split(processes, 0, place.rank(), &communicator_);
  }
  ~GridCommunicator() { MPI_Comm_free(&communicator_); }
  GridCommunicator(const GridCommunicator&) = delete;
  GridCommunicator& operator=(const GridCommunicator&) = delete;
  MPI_Comm get() const noexcept { return communicator_; }
  /// What all processes find.
  bool all(bool here) const {
    int value = here;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_LAND, communicator_);
    return value != 0;
  }
  /// Whether the Runtime is the default one, and all of its ranks are here: to end it is collective.
  bool may_end(const Runtime& alive) const {
    if (!default_runtime_alive()) return false;
    if (alive.size() == 1) return true;
    MPI_Group ranks = MPI_GROUP_NULL, here = MPI_GROUP_NULL, both = MPI_GROUP_NULL;
    MPI_Comm_group(alive.detail().communicator, &ranks);
    MPI_Comm_group(communicator_, &here);
    MPI_Group_intersection(ranks, here, &both);
    int shared = 0;
    MPI_Group_size(both, &shared);
    for (MPI_Group* group : {&ranks, &here, &both}) MPI_Group_free(group);
    return shared == alive.size();
  }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

#endif

}  // namespace

BlacsRuntime blacs_runtime(int context) {
  const Place place = place_in(context);
#if TESSERA_WITH_MPI
  if (place.rows * place.cols > 1) {
    const GridCommunicator processes(context, place);
    const auto alive_with = [&](int rank) {
      const Runtime* alive = alive_runtime;
      if (!processes.all(alive && alive->size() == place.rows * place.cols && alive->rank() == rank))
        return false;
      int order = MPI_UNEQUAL;
      MPI_Comm_compare(alive->detail().communicator, processes.get(), &order);
      return processes.all(order != MPI_UNEQUAL);
    };
    if (alive_with(place.rank())) return {*alive_runtime, place.rows, place.cols, false};
    if (alive_with(place.row + place.col * place.rows))
      return {*alive_runtime, place.rows, place.cols, true};
    if (!processes.all(!alive_runtime || processes.may_end(*alive_runtime))) refuse_other_processes();
    return {default_runtime_on(Communicator::from_fortran(MPI_Comm_c2f(processes.get()))), place.rows,
            place.cols, false};
  }
#endif
  if (place.rows * place.cols > 1) throw RuntimeError("several processes, but this build has no MPI");
  if (!alive_runtime) return {default_runtime_on({})};
  if (alive_runtime.load()->size() > 1) refuse_other_processes();
  return {*alive_runtime};
}

}  // namespace tessera::detail
