// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/algorithms/dense/split_space.hpp>
#include <tessera/algorithms/dense/trailing_matrix.hpp>
#include <tessera/codelets/dense/column_groups.hpp>
#include <tessera/codelets/dense/two_sided.hpp>

namespace tessera::detail {

namespace {

template <class T>
class TrailingColumnGroups final : public TrailingMatrix<T> {
 public:
  TrailingColumnGroups(Sequence& sequence, TiledMatrix<T>&& a, Index update_width, const BandMatrix<T>& band,
                       int groups, bool split_products)
      : sequence_(sequence),
        runtime_(sequence.runtime()),
        a_(deal_columns<T>(sequence, std::move(a), update_width, groups)),
        columns_(a_.columns()),
        band_(band),
        n_(columns_.n),
        b_(band.bandwidth()),
        kb_(columns_.block),
        w_(Data::matrix(runtime_, n_, b_, sizeof(T))),
        workspace_(Data::scratch(runtime_, panel_step_workspace_bytes<T>(n_, b_, kb_))),
        update_workspace_(Data::scratch(runtime_, update_workspace_bytes<T>(columns_.count(0), kb_))),
        split_(runtime_, split_products ? split_update_bytes<T>(n_, columns_.count(0), kb_) : 0) {
    for (int g = 0; g < groups; ++g) vz_.push_back(Data::matrix(runtime_, n_, 2 * kb_, sizeof(T)));
  }

  /// The block is the columns of one group, its owner.
  void begin_block(Index column) override {
    owner_ = columns_.group_of(column);
    v_.clear();
    z_.clear();
    // Pieces of Y for all products of the block.
    y_.clear();
    y_.resize(at(columns_.groups));
    for (const GroupPart& part : parts_from(column + b_))
      y_[at(part.number)] = piece(part.count(), columns_.count(0));
    vz_[at(owner_)].forget();  // the first panel writes it
  }

  /// With the update of the panel before it and the reflectors after it, as one task of the owner.
  void factor_panel(const PanelPosition& panel) override {
    const Index s = band_.segment_of(panel.column);
    GroupPanel<T> task{.group = a_.group(owner_),
                       .vz = vz_[at(owner_)],
                       .segment = band_.segment(s),
                       .workspace = workspace_,
                       .panel = panel,
                       .local_column = columns_.local(panel.column),
                       .first_column = band_.first_col(s)};
    if (!panel.last()) {
      task.t = t_.emplace_back(Data::matrix(runtime_, b_, b_, sizeof(T)));
      task.v = v_.emplace_back(piece(panel.rows(), n_));
      task.w = w_;
      z_.push_back(piece(panel.rows(), n_));
    }
    sequence_.insert(task, owners_options());
  }

  /// Every group's rows of A0 V; the factor T of W = V T comes in form_z.
  void two_sided_product(const PanelPosition& panel) override {
    for (const GroupPart& part : parts_from(panel.row()))
      sequence_.insert(GroupProduct<T>{.group = a_.group(part.number),
                                       .v = v_.back(),
                                       .y = y_[at(part.number)],
                                       .part = part,
                                       .b = b_},
                       {.priority = ReductionPriority::product, .gpu = gpu_of(part.number)});
  }

  void form_z(const PanelPosition& panel) override {
    std::vector<const Data*> y;
    for (const GroupPart& part : parts_from(panel.row())) y.push_back(&y_[at(part.number)]);
    sequence_.insert(GroupFormZ<T>{.w = w_,
                                   .t = t_.back(),
                                   .vz = vz_[at(owner_)],
                                   .z = z_.back(),
                                   .workspace = workspace_,
                                   .y = y,
                                   .panel = panel,
                                   .columns = columns_},
                     owners_options());
    for (const GroupPart& part : parts_from(panel.column - panel.done + kb_))  // those of the update
      if (gpu_of(part.number) != gpu_of(owner_)) z_.back().prefetch(gpu_of(part.number), false);
  }

  void update(Index row) override {
    const auto v = pointers_to(v_), z = pointers_to(z_);
    // The next block's owner first: where groups share a GPU its panels begin the sooner.
    for (const GroupPart& part : parts_from(row, owner_ + 1)) {
      const int g = part.number;
      GroupUpdate<T> task{.group = a_.group(g),
                          .workspace = update_workspace_,
                          .split = split_.operand(),
                          .part = part,
                          .b = b_};
      if (g == owner_) {
        task.vz = vz_[at(g)];
      } else {
        task.gathered = vz_[at(g)];
        task.v = v;
        task.z = z;
      }
      sequence_.insert(task, {.priority = ReductionPriority::update, .gpu = gpu_of(g)});
    }
  }

  BandReflectors<T> reflectors() override {
    const auto panels = static_cast<Index>(t_.size());
    return {{}, std::move(a_), std::move(t_), b_, panels};
  }

 private:
  static std::size_t at(int group) { return static_cast<std::size_t>(group); }
  int gpu_of(int group) const { return gpu_of_group(runtime_, group); }
  TaskOptions owners_options() const { return {.priority = ReductionPriority::panel, .gpu = gpu_of(owner_)}; }

  /// The columns from number `row` on of the groups that have some, in turn from group `first` on.
  std::vector<GroupPart> parts_from(Index row, int first = 0) const {
    std::vector<GroupPart> parts;
    for (int k = 0; k < columns_.groups && row < n_; ++k) {
      const GroupPart part{.columns = columns_, .number = (first + k) % columns_.groups, .row = row};
      if (part.count() > 0) parts.push_back(part);
    }
    return parts;
  }

  /// rows x b elements in memory for `max_rows`: pieces of later blocks, which are smaller, use it again.
  Data piece(Index rows, Index max_rows) const {
    const auto bytes = [&](Index m) { return static_cast<std::size_t>(m * b_) * sizeof(T); };
    return Data::bytes(runtime_, bytes(rows), 0, bytes(max_rows));
  }

  Sequence& sequence_;
  Runtime& runtime_;
  ColumnGroups<T> a_;
  const CyclicColumns columns_;
  const BandMatrix<T>& band_;
  const Index n_, b_, kb_;
  Data w_, workspace_, update_workspace_;
  const SplitSpace split_;
  int owner_ = 0;            ///< of the outer block
  std::vector<Data> vz_;     ///< by group
  std::vector<Data> y_;      ///< by group, of one outer block
  std::vector<Data> v_, z_;  ///< by panel of the outer block
  std::vector<Data> t_;      ///< by panel
};

}  // namespace

template <class T>
std::unique_ptr<TrailingMatrix<T>> trailing_column_groups(Sequence& sequence, TiledMatrix<T>&& a,
                                                          Index update_width, const BandMatrix<T>& band,
                                                          int groups, bool split_products) {
  return std::make_unique<TrailingColumnGroups<T>>(sequence, std::move(a), update_width, band, groups,
                                                   split_products);
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template std::unique_ptr<TrailingMatrix<T>> trailing_column_groups<T>(Sequence&, TiledMatrix<T>&&, Index, \
                                                                        const BandMatrix<T>&, int, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
