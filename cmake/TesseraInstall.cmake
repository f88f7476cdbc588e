# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Installation: library, public headers, CMake package (find_package(tessera CONFIG)), pkg-config file, performance models.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tessera")
install(TARGETS tessera EXPORT tesseraTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tessera_matgen EXPORT tesseraMatgenTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS measure_buses RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tessera)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_dir})
install(EXPORT tesseraMatgenTargets NAMESPACE tessera:: DESTINATION ${package_dir})
install(DIRECTORY include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES "${TESSERA_GENERATED_INCLUDE_DIR}/tessera/version.hpp" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera)

configure_package_config_file(cmake/tesseraConfig.cmake.in "${PROJECT_BINARY_DIR}/cmake/tesseraConfig.cmake"
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/tesseraConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/tesseraConfig.cmake" "${PROJECT_BINARY_DIR}/cmake/tesseraConfigVersion.cmake"
  DESTINATION ${package_dir})

# Relative to the file itself, so that the installation can be moved and `cmake --install --prefix` is right.
file(RELATIVE_PATH TESSERA_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/tessera.pc.in "${PROJECT_BINARY_DIR}/cmake/tessera.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/tessera.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY perfmodels DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera OPTIONAL)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tessera)
