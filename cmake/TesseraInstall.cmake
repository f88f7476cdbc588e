# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Installation: libraries, public headers, CMake package (find_package(tessera CONFIG)), pkg-config files, performance models,
# manual pages, completion for shells. The program and the benchmarks: tools/CMakeLists.txt.
include(CMakePackageConfigHelpers)

# Debian's zsh looks in vendor-completions for what does not belong to zsh itself.
set(TESSERA_ZSH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE PATH "Where zsh finds completion")
mark_as_advanced(TESSERA_ZSH_COMPLETION_DIR)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tessera")
install(TARGETS tessera EXPORT tesseraTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tessera_matgen EXPORT tesseraMatgenTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS measure_buses RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tessera)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_dir})
install(EXPORT tesseraMatgenTargets NAMESPACE tessera:: DESTINATION ${package_dir})
install(DIRECTORY include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES "${TESSERA_GENERATED_INCLUDE_DIR}/tessera/version.hpp" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera)
if(EXISTS "${PROJECT_SOURCE_DIR}/include/tessera.h")  # C
  install(FILES include/tessera.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET tessera_fortran)
  # The module files are of one compiler, so they are in a folder of its name.
  set(TESSERA_FORTRAN_MODULE_DIR
    "${CMAKE_INSTALL_LIBDIR}/fortran/modules/${CMAKE_Fortran_COMPILER_ID}/tessera")
  set_target_properties(tessera_fortran PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${TESSERA_SOVERSION})
  target_include_directories(tessera_fortran INTERFACE $<INSTALL_INTERFACE:${TESSERA_FORTRAN_MODULE_DIR}>)
  get_target_property(modules tessera_fortran Fortran_MODULE_DIRECTORY)
  install(TARGETS tessera_fortran EXPORT tesseraFortranTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT tesseraFortranTargets NAMESPACE tessera:: DESTINATION ${package_dir})
  if(modules)
    install(DIRECTORY "${modules}/" DESTINATION ${TESSERA_FORTRAN_MODULE_DIR} FILES_MATCHING PATTERN "*.mod")
  endif()
endif()

configure_package_config_file(cmake/tesseraConfig.cmake.in "${PROJECT_BINARY_DIR}/cmake/tesseraConfig.cmake"
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/tesseraConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/tesseraConfig.cmake" "${PROJECT_BINARY_DIR}/cmake/tesseraConfigVersion.cmake"
  DESTINATION ${package_dir})

# Relative to the file itself, so that the installation can be moved and `cmake --install --prefix` is right.
file(RELATIVE_PATH TESSERA_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
set(pkgconfig_names tessera)
if(TARGET tessera_fortran)
  list(APPEND pkgconfig_names tessera_fortran)
endif()
foreach(name IN LISTS pkgconfig_names)
  configure_file(cmake/${name}.pc.in "${PROJECT_BINARY_DIR}/cmake/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/cmake/${name}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(DIRECTORY perfmodels DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera OPTIONAL)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tessera)

# OPTIONAL, because tools/quickstart builds the program alone.
install(DIRECTORY "${TESSERA_PAGES_DIR}/" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL FILES_MATCHING PATTERN "*.1")
install(FILES "${TESSERA_PAGES_DIR}/tessera" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(FILES "${TESSERA_PAGES_DIR}/_tessera" DESTINATION ${TESSERA_ZSH_COMPLETION_DIR} OPTIONAL)
install(FILES "${TESSERA_PAGES_DIR}/tessera.fish" DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
