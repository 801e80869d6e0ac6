/**
 * Aerodrome reports of the afternoon of 20 March 2026, as published by the Aviation Weather Center of NOAA, a work of the
 * United States government in the public domain.
 *
 * Guarantees: real reports, unchanged but for remarks and trends that some of them lost; shown as recorded wherever they are used.
 * Does not say anything of today.
 */

export interface RecordedReport {
  readonly city: string
  readonly country: string
  /** Where the report is from, which is near the city and not always in it. */
  readonly station: string
  /** ISO 8601, UTC. */
  readonly observedAt: string
  readonly report: string
}

const at = (
  time: string,
  [city, country, station, report]: readonly [string, string, string, string]
): RecordedReport => ({
  city,
  country,
  station,
  observedAt: `2026-03-20T${time}:00Z`,
  report
})

export const recordedReports: ReadonlyArray<RecordedReport> = [
  at("14:50", ["Athens", "Greece", "Elefsina", "LGEL 201450Z 35006KT CAVOK 10/02 Q1008"]),
  at("15:00", ["Bangkok", "Thailand", "Suvarnabhumi", "VTBS 201500Z 17008KT 9999 FEW020 29/23 Q1012 NOSIG"]),
  at("15:00", ["Barcelona", "Spain", "El Prat", "LEBL 201500Z 09008KT 060V120 9999 FEW026 16/09 Q1015 NOSIG"]),
  at("15:00", ["Beijing", "China", "Capital", "ZBAA 201500Z 13002MPS CAVOK 05/M10 Q1023 NOSIG"]),
  at("14:50", ["Bergen", "Norway", "Flesland", "ENBR 201450Z 17012KT 9999 FEW022 08/02 Q1020 NOSIG"]),
  at("14:50", ["Brussels", "Belgium", "Zaventem", "EBBR 201450Z 03007KT 360V060 CAVOK 14/05 Q1019 NOSIG"]),
  at("15:00", ["Cape Town", "South Africa", "Cape Town", "FACT 201500Z 16010KT 9999 SCT045 21/13 Q1017 NOSIG"]),
  at("15:00", ["Casablanca", "Morocco", "Anfa", "GMMC 201500Z 13003KT 8000 SCT016 SCT026 21/14 Q1003"]),
  at("14:50", ["Cologne", "Germany", "Cologne Bonn", "EDDK 201450Z AUTO 30008KT 240V340 CAVOK 16/02 Q1018"]),
  at("15:00", ["Delhi", "India", "Indira Gandhi", "VIDP 201500Z 04004KT 3500 BR SCT100 18/16 Q1012 NOSIG"]),
  at("15:00", ["Doha", "Qatar", "Hamad", "OTHH 201500Z 15006KT 9999 FEW035 SCT080 25/18 Q1007 NOSIG"]),
  at("14:50", ["Edinburgh", "United Kingdom", "Edinburgh", "EGPH 201450Z 24010KT CAVOK 17/08 Q1018"]),
  at("14:50", ["Havana", "Cuba", "José Martí", "MUHA 201450Z 03019KT 9000 BKN025 23/16 Q1017"]),
  at("15:00", ["Hong Kong", "China", "Chek Lap Kok", "VHHH 201500Z 09009KT 9999 FEW010 SCT020 23/19 Q1016 NOSIG"]),
  at("15:00", ["Johannesburg", "South Africa", "O. R. Tambo", "FAOR 201500Z 02012KT CAVOK 24/15 Q1021 NOSIG"]),
  at("15:00", [
    "Kathmandu",
    "Nepal",
    "Tribhuvan",
    "VNKT 201500Z 09009KT 7000 -TSRA FEW015 FEW025CB SCT030 BKN100 13/12 Q1018"
  ]),
  at("14:50", [
    "Leipzig",
    "Germany",
    "Leipzig/Halle",
    "EDDP 201450Z AUTO 33007KT 300V360 9999 -SHRA BKN037 BKN045 10/05 Q1019"
  ]),
  at("15:00", ["Lima", "Peru", "Jorge Chávez", "SPJC 201500Z 22006KT 180V260 9999 VCFG NSC 24/20 Q1013 NOSIG"]),
  at("15:00", [
    "Lisbon",
    "Portugal",
    "Cascais",
    "LPCS 201500Z 08007KT 040V130 9999 FEW014 SCT018 FEW020CB 16/13 Q1006"
  ]),
  at("14:50", [
    "London",
    "United Kingdom",
    "Heathrow",
    "EGLL 201450Z COR AUTO 05006KT 010V100 9999 NCD 14/03 Q1021 NOSIG"
  ]),
  at("15:00", ["Madrid", "Spain", "Barajas", "LEMD 201500Z VRB02KT 9999 BKN035 FEW040TCU BKN050 11/05 Q1012 NOSIG"]),
  at("15:00", ["Montevideo", "Uruguay", "Carrasco", "SUMU 201500Z COR 05010KT 9999 BKN030 27/19 Q1010 NOSIG"]),
  at("14:50", ["Oslo", "Norway", "Gardermoen", "ENGM 201450Z 21008KT CAVOK 10/M03 Q1018 NOSIG"]),
  at("15:00", ["Paris", "France", "Pontoise", "LFPT 201500Z AUTO 06007KT 030V090 CAVOK 17/04 Q1017"]),
  at("15:20", ["Riga", "Latvia", "Riga", "EVRA 201520Z 33007KT CAVOK 05/M01 Q1020 NOSIG"]),
  at("14:50", ["Rome", "Italy", "Urbe", "LIRU 201450Z 35010KT 300V020 CAVOK 16/00 Q1011"]),
  at("15:00", [
    "Santiago",
    "Chile",
    "Arturo Merino Benítez",
    "SCEL 201500Z 18003KT 120V250 9999 FEW030 BKN080 17/10 Q1014 NOSIG"
  ]),
  at("15:00", ["São Paulo", "Brazil", "Campo de Marte", "SBMT 201500Z 11007KT 070V150 9999 BKN025 24/18 Q1014"]),
  at("15:00", ["Shanghai", "China", "Pudong", "ZSPD 201500Z 11002MPS CAVOK 09/02 Q1024 NOSIG"]),
  at("15:20", ["Tallinn", "Estonia", "Lennart Meri", "EETN 201520Z 34004KT CAVOK 07/M01 Q1020 NOSIG"]),
  at("15:00", ["Tokyo", "Japan", "Haneda", "RJTT 201500Z 31005KT CAVOK 07/06 Q1014"]),
  at("15:00", ["Toronto", "Canada", "Billy Bishop", "CYTZ 201500Z AUTO 06010KT 4SM -RA BR BKN004 OVC008 02/01 A2975"]),
  at("15:00", ["Toulouse", "France", "Blagnac", "LFBO 201500Z AUTO 12007KT 060V160 CAVOK 19/01 Q1012 NOSIG"]),
  at("14:50", ["Venice", "Italy", "Tessera", "LIPZ 201450Z 15008KT CAVOK 15/00 Q1015 NOSIG"]),
  at("14:50", ["Vienna", "Austria", "Schwechat", "LOWW 201450Z 34009KT 310V040 CAVOK 14/M02 Q1016 NOSIG"])
]
