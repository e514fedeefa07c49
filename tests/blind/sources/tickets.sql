CREATE TABLE tickets (
    ticket text PRIMARY KEY,
    opened_at timestamp NOT NULL,
    closed_at timestamp,
    team text,
    priority text,
    channel text,
    minutes_to_answer integer,
    satisfaction smallint
);
COPY tickets FROM stdin;
T-7001	2025-09-01 06:34	2025-09-03 16:15	Partner	low	Partner	72	5
T-7002	2025-09-01 08:23	2025-09-03 12:32	First Line	normal	Partner	5	4
T-7003	2025-09-01 14:06	2025-09-02 08:27	Open Platform	normal	chat	87	5
T-7004	2025-09-01 17:33	2025-09-04 13:45	Partner	urgent	email	109	2
T-7005	2025-09-01 20:16	2025-09-02 07:09	Partner	normal	chat	29	\N
T-7006	2025-09-01 20:51	2025-09-02 06:07	Returns	normal	email	38	\N
T-7007	2025-09-01 21:01	2025-09-02 19:26	Billing	urgent	Partner	70	5
T-7008	2025-09-01 21:20	2025-09-04 13:42	Returns	low	Partner	31	\N
T-7009	2025-09-01 21:21	2025-09-03 20:54	Open Platform	normal	chat	120	1
T-7010	2025-09-02 06:02	2025-09-04 15:58	Returns	normal	Partner	31	\N
T-7011	2025-09-02 06:35	2025-09-04 15:59	Open Platform	low	phone	95	1
T-7012	2025-09-02 07:23	2025-09-03 16:46	Billing	normal	web form	47	5
T-7013	2025-09-02 07:56	2025-09-04 12:24	First Line	normal	chat	16	5
T-7014	2025-09-02 09:03	2025-09-04 01:51	Partner	high	phone	135	1
T-7015	2025-09-02 12:26	2025-09-05 08:48	Night Shift	normal	Partner	135	5
T-7016	2025-09-02 17:06	2025-09-05 01:11	Night Shift	normal	chat	136	\N
T-7017	2025-09-02 18:31	2025-09-04 07:12	Night Shift	high	email	168	4
T-7018	2025-09-02 18:40	2025-09-03 02:49	First Line	normal	chat	24	5
T-7019	2025-09-02 19:46	2025-09-04 20:36	Billing	urgent	Partner	13	3
T-7020	2025-09-02 20:10	2025-09-04 10:50	Open Platform	normal	web form	85	4
T-7021	2025-09-03 09:52	2025-09-03 20:49	Billing	high	email	32	2
T-7022	2025-09-03 10:07	2025-09-06 04:46	First Line	normal	chat	21	4
T-7023	2025-09-03 10:11	2025-09-05 09:46	Open Platform	normal	email	39	\N
T-7024	2025-09-03 13:38	2025-09-05 09:16	Open Platform	high	phone	19	5
T-7025	2025-09-03 15:13	2025-09-05 04:57	Partner	normal	email	224	\N
T-7026	2025-09-03 15:25	2025-09-04 23:36	Returns	normal	chat	35	\N
T-7027	2025-09-03 17:52	2025-09-04 16:31	Night Shift	low	email	50	1
T-7028	2025-09-03 19:35	2025-09-04 12:59	Returns	normal	email	59	5
T-7029	2025-09-03 20:06	\N	Billing	high	email	43	\N
T-7030	2025-09-03 21:04	2025-09-04 13:34	Open Platform	normal	email	141	4
T-7031	2025-09-04 06:29	2025-09-04 18:30	Billing	urgent	email	37	\N
T-7032	2025-09-04 06:57	2025-09-05 09:03	Open Platform	high	phone	147	\N
T-7033	2025-09-04 07:29	2025-09-04 17:10	Billing	urgent	web form	82	5
T-7034	2025-09-04 08:34	2025-09-06 03:32	First Line	high	email	35	4
T-7035	2025-09-04 09:01	2025-09-05 21:24	First Line	normal	email	2	\N
T-7036	2025-09-04 17:42	2025-09-07 09:42	Partner	normal	phone	114	4
T-7037	2025-09-04 17:57	2025-09-06 20:50	Returns	normal	chat	83	1
T-7038	2025-09-04 19:26	2025-09-05 16:43	Night Shift	low	web form	216	5
T-7039	2025-09-04 19:37	2025-09-07 14:58	Open Platform	normal	phone	84	5
T-7040	2025-09-05 06:27	2025-09-05 23:32	Returns	normal	chat	58	\N
T-7041	2025-09-05 07:23	2025-09-06 20:15	Partner	low	email	208	\N
T-7042	2025-09-05 08:54	2025-09-05 14:43	Night Shift	normal	email	160	\N
T-7043	2025-09-05 09:55	2025-09-07 12:18	Billing	normal	email	67	3
T-7044	2025-09-05 13:49	2025-09-07 09:46	Returns	normal	phone	123	5
T-7045	2025-09-05 14:05	2025-09-05 17:11	Open Platform	normal	email	65	2
T-7046	2025-09-05 14:45	2025-09-05 18:49	Partner	urgent	Partner	67	3
T-7047	2025-09-05 16:59	2025-09-06 14:04	Billing	normal	phone	69	2
T-7048	2025-09-05 17:54	2025-09-08 10:23	Billing	urgent	Partner	69	1
T-7049	2025-09-05 18:36	2025-09-06 13:56	Open Platform	high	email	161	\N
T-7050	2025-09-05 19:16	2025-09-08 05:45	Billing	normal	email	66	\N
T-7051	2025-09-06 12:53	2025-09-09 06:01	Returns	normal	email	40	\N
T-7052	2025-09-06 15:45	2025-09-07 13:44	Returns	urgent	Partner	109	2
T-7053	2025-09-06 20:05	2025-09-08 05:05	Partner	normal	web form	112	1
T-7054	2025-09-07 07:05	2025-09-07 19:30	Partner	low	chat	208	2
T-7055	2025-09-07 08:20	2025-09-09 21:28	Open Platform	low	phone	29	\N
T-7056	2025-09-07 08:25	2025-09-08 12:28	Night Shift	urgent	phone	122	5
T-7057	2025-09-07 11:50	2025-09-07 15:59	First Line	normal	email	15	\N
T-7058	2025-09-07 16:05	2025-09-07 23:23	Billing	low	Partner	24	3
T-7059	2025-09-07 20:59	2025-09-10 12:10	First Line	low	Partner	10	3
T-7060	2025-09-07 21:39	2025-09-08 09:16	Billing	urgent	phone	77	\N
T-7061	2025-09-08 06:09	2025-09-10 05:49	Night Shift	high	Partner	42	1
T-7062	2025-09-08 06:39	2025-09-09 00:28	Open Platform	normal	email	87	4
T-7063	2025-09-08 15:59	2025-09-10 02:38	Night Shift	normal	web form	162	3
T-7064	2025-09-08 17:50	2025-09-09 04:11	Partner	normal	phone	117	\N
T-7065	2025-09-09 09:06	2025-09-09 14:27	Open Platform	high	chat	93	\N
T-7066	2025-09-09 12:45	2025-09-11 05:41	Night Shift	normal	Partner	229	1
T-7067	2025-09-09 13:17	2025-09-10 06:40	Night Shift	normal	email	252	5
T-7068	2025-09-09 13:44	2025-09-10 19:45	Night Shift	high	email	57	\N
T-7069	2025-09-09 15:27	2025-09-10 01:55	Night Shift	normal	Partner	64	4
T-7070	2025-09-09 17:38	2025-09-10 07:18	Returns	urgent	chat	102	3
T-7071	2025-09-09 20:20	2025-09-11 12:18	Returns	high	email	91	1
T-7072	2025-09-10 06:16	2025-09-12 08:25	Partner	low	phone	148	4
T-7073	2025-09-10 11:15	2025-09-12 21:17	Billing	normal	web form	63	3
T-7074	2025-09-10 15:08	2025-09-13 09:52	Partner	high	phone	25	3
T-7075	2025-09-10 15:22	2025-09-12 08:39	First Line	low	Partner	6	1
T-7076	2025-09-10 16:23	2025-09-12 13:46	Partner	high	phone	125	5
T-7077	2025-09-10 17:27	2025-09-12 14:54	First Line	urgent	email	20	3
T-7078	2025-09-10 19:39	2025-09-13 02:04	First Line	normal	email	30	1
T-7079	2025-09-10 19:50	2025-09-13 04:34	First Line	high	Partner	17	4
T-7080	2025-09-10 20:05	2025-09-12 00:09	Open Platform	high	Partner	69	5
T-7081	2025-09-11 06:10	2025-09-12 11:05	Night Shift	low	Partner	107	3
T-7082	2025-09-11 08:18	2025-09-11 15:11	Billing	high	email	20	5
T-7083	2025-09-11 10:25	2025-09-13 03:38	Open Platform	low	email	82	4
T-7084	2025-09-11 14:55	2025-09-13 16:09	Billing	low	chat	67	3
T-7085	2025-09-11 17:25	2025-09-12 07:04	Night Shift	normal	email	250	1
T-7086	2025-09-11 19:43	2025-09-12 21:21	First Line	low	email	34	\N
T-7087	2025-09-11 19:57	2025-09-12 11:09	First Line	urgent	chat	35	\N
T-7088	2025-09-11 20:06	\N	Billing	normal	email	30	\N
T-7089	2025-09-11 20:11	2025-09-12 00:54	Night Shift	urgent	chat	249	5
T-7090	2025-09-11 21:21	2025-09-14 14:37	First Line	urgent	phone	2	3
T-7091	2025-09-12 06:26	2025-09-12 19:02	Partner	urgent	email	108	3
T-7092	2025-09-12 09:15	2025-09-13 20:37	Billing	normal	web form	65	1
T-7093	2025-09-12 11:16	2025-09-14 20:38	Returns	low	chat	110	\N
T-7094	2025-09-12 14:07	2025-09-13 04:14	First Line	urgent	chat	15	\N
T-7095	2025-09-12 16:34	2025-09-12 20:24	First Line	normal	chat	28	5
T-7096	2025-09-12 21:20	2025-09-15 10:49	Open Platform	normal	phone	147	4
T-7097	2025-09-12 21:39	2025-09-14 00:58	Partner	urgent	email	172	4
T-7098	2025-09-13 06:30	2025-09-14 16:12	Partner	normal	email	48	4
T-7099	2025-09-13 10:16	2025-09-14 17:37	Night Shift	normal	chat	117	\N
T-7100	2025-09-13 12:19	2025-09-14 10:25	First Line	low	email	33	5
T-7101	2025-09-13 16:53	2025-09-15 14:16	First Line	urgent	web form	4	3
T-7102	2025-09-14 06:01	\N	Night Shift	normal	email	93	\N
T-7103	2025-09-14 10:18	2025-09-17 04:57	Open Platform	high	phone	131	\N
T-7104	2025-09-14 11:31	2025-09-16 09:00	First Line	low	email	9	\N
T-7105	2025-09-14 14:05	2025-09-17 06:56	Night Shift	normal	email	209	\N
T-7106	2025-09-14 17:27	2025-09-17 01:14	Partner	normal	web form	81	4
T-7107	2025-09-14 17:47	2025-09-16 08:29	Billing	high	email	47	4
T-7108	2025-09-14 18:29	2025-09-17 13:44	Partner	high	phone	122	4
T-7109	2025-09-15 06:14	2025-09-16 06:22	Returns	low	web form	49	4
T-7110	2025-09-15 07:49	2025-09-17 21:31	Returns	high	email	74	1
T-7111	2025-09-15 11:57	2025-09-17 21:24	Billing	urgent	email	45	3
T-7112	2025-09-15 12:32	2025-09-18 03:08	Returns	normal	phone	135	4
T-7113	2025-09-15 14:53	2025-09-17 06:39	Night Shift	high	Partner	196	3
T-7114	2025-09-15 17:06	2025-09-18 07:12	Returns	normal	chat	63	\N
T-7115	2025-09-15 17:38	2025-09-17 16:36	Billing	low	phone	56	4
T-7116	2025-09-15 17:46	2025-09-16 18:26	Partner	low	chat	147	5
T-7117	2025-09-15 20:48	2025-09-16 13:05	First Line	low	Partner	12	4
T-7118	2025-09-15 21:09	2025-09-16 19:33	Returns	normal	chat	72	\N
T-7119	2025-09-16 12:21	2025-09-18 01:43	Returns	normal	phone	33	4
T-7120	2025-09-16 13:33	2025-09-16 21:50	Returns	high	phone	48	\N
T-7121	2025-09-16 19:36	2025-09-17 05:53	First Line	high	email	12	5
T-7122	2025-09-16 19:40	2025-09-19 10:36	Open Platform	low	phone	157	5
T-7123	2025-09-17 07:24	2025-09-19 09:02	Open Platform	low	chat	151	2
T-7124	2025-09-17 08:27	\N	Partner	normal	chat	34	\N
T-7125	2025-09-17 09:39	2025-09-19 01:01	Open Platform	normal	email	67	4
T-7126	2025-09-17 20:46	2025-09-19 15:14	Partner	normal	email	212	1
T-7127	2025-09-18 07:11	2025-09-19 13:48	First Line	normal	Partner	10	4
T-7128	2025-09-18 07:14	2025-09-19 06:26	Partner	normal	web form	105	1
T-7129	2025-09-18 08:08	2025-09-19 17:11	First Line	normal	phone	19	4
T-7130	2025-09-18 08:22	2025-09-18 16:05	Night Shift	low	phone	123	\N
T-7131	2025-09-18 09:06	2025-09-18 15:27	First Line	normal	Partner	32	5
T-7132	2025-09-18 13:40	2025-09-18 20:45	First Line	urgent	email	27	3
T-7133	2025-09-18 14:02	\N	Returns	normal	Partner	135	\N
T-7134	2025-09-18 15:31	2025-09-19 17:42	Returns	urgent	web form	87	4
T-7135	2025-09-18 17:39	2025-09-21 00:16	Returns	normal	web form	38	4
T-7136	2025-09-18 18:13	2025-09-20 01:51	Returns	high	phone	47	5
T-7137	2025-09-18 20:17	2025-09-20 00:20	Open Platform	normal	phone	38	\N
T-7138	2025-09-19 10:58	2025-09-20 20:09	First Line	urgent	email	27	5
T-7139	2025-09-19 16:48	2025-09-20 04:38	Returns	normal	web form	39	4
T-7140	2025-09-19 17:06	2025-09-20 04:32	Billing	low	web form	7	5
T-7141	2025-09-19 18:05	2025-09-22 02:44	Billing	normal	chat	55	\N
T-7142	2025-09-20 09:02	2025-09-22 20:08	Night Shift	normal	chat	50	\N
T-7143	2025-09-20 09:28	2025-09-21 03:28	Billing	low	chat	68	5
T-7144	2025-09-20 11:35	2025-09-22 14:07	Returns	normal	chat	9	\N
T-7145	2025-09-20 14:25	2025-09-22 04:37	First Line	normal	email	35	4
T-7146	2025-09-20 14:46	2025-09-23 05:45	First Line	low	web form	18	3
T-7147	2025-09-20 16:46	2025-09-21 21:16	Night Shift	high	email	73	4
T-7148	2025-09-20 20:05	2025-09-22 15:41	Night Shift	low	web form	171	\N
T-7149	2025-09-20 20:51	2025-09-21 13:11	First Line	low	email	15	5
T-7150	2025-09-21 07:23	2025-09-24 00:25	Night Shift	high	chat	191	3
T-7151	2025-09-21 10:36	2025-09-22 08:22	Returns	normal	email	113	2
T-7152	2025-09-21 12:37	2025-09-23 06:58	First Line	normal	email	22	5
T-7153	2025-09-21 13:31	2025-09-22 09:39	First Line	urgent	chat	22	5
T-7154	2025-09-21 14:07	2025-09-22 14:14	First Line	urgent	Partner	5	\N
T-7155	2025-09-21 15:09	2025-09-24 04:06	Returns	normal	email	38	4
T-7156	2025-09-21 19:32	2025-09-23 05:52	Partner	high	web form	63	4
T-7157	2025-09-21 21:39	2025-09-24 00:00	Partner	normal	web form	39	\N
T-7158	2025-09-22 07:22	2025-09-25 04:37	Night Shift	urgent	chat	213	5
T-7159	2025-09-22 07:37	2025-09-24 18:26	Returns	low	web form	35	5
T-7160	2025-09-22 11:46	2025-09-23 19:11	Night Shift	normal	Partner	127	1
T-7161	2025-09-22 19:39	2025-09-24 12:46	First Line	normal	web form	31	2
T-7162	2025-09-23 06:07	2025-09-25 11:54	Billing	normal	phone	55	5
T-7163	2025-09-23 06:34	2025-09-24 22:56	Billing	high	web form	43	\N
T-7164	2025-09-23 06:55	2025-09-24 04:19	Partner	normal	web form	195	1
T-7165	2025-09-23 13:26	2025-09-25 12:52	Returns	urgent	Partner	134	4
T-7166	2025-09-23 13:44	2025-09-26 07:21	Night Shift	normal	phone	190	2
T-7167	2025-09-23 16:16	2025-09-24 22:50	Billing	normal	chat	17	1
T-7168	2025-09-23 18:24	2025-09-25 15:02	First Line	normal	email	6	1
T-7169	2025-09-23 18:24	2025-09-24 03:23	Night Shift	low	email	121	5
T-7170	2025-09-23 18:46	2025-09-25 00:01	Billing	normal	email	67	5
T-7171	2025-09-24 09:26	2025-09-27 01:40	Night Shift	normal	chat	54	\N
T-7172	2025-09-24 17:09	2025-09-25 14:09	First Line	high	phone	33	3
T-7173	2025-09-24 19:43	2025-09-27 09:06	Returns	low	email	61	4
T-7174	2025-09-25 11:01	2025-09-25 18:18	First Line	normal	phone	11	2
T-7175	2025-09-25 13:20	2025-09-25 22:31	Billing	urgent	chat	18	\N
T-7176	2025-09-25 15:39	2025-09-26 11:28	Partner	high	email	39	3
T-7177	2025-09-26 10:57	2025-09-26 12:16	First Line	normal	web form	5	\N
T-7178	2025-09-26 11:08	2025-09-28 17:59	Night Shift	normal	phone	156	5
T-7179	2025-09-26 12:08	2025-09-29 00:07	Returns	normal	email	121	2
T-7180	2025-09-26 13:16	\N	Partner	urgent	Partner	171	\N
T-7181	2025-09-26 15:33	2025-09-28 05:01	Partner	normal	chat	91	3
T-7182	2025-09-26 16:45	2025-09-29 04:52	First Line	normal	web form	5	5
T-7183	2025-09-26 19:32	2025-09-27 00:01	First Line	normal	email	28	1
T-7184	2025-09-26 20:46	2025-09-28 11:16	First Line	high	Partner	15	4
T-7185	2025-09-26 21:30	2025-09-28 22:04	Partner	high	chat	30	\N
T-7186	2025-09-27 10:33	2025-09-29 17:47	Partner	normal	chat	164	2
T-7187	2025-09-27 14:48	2025-09-30 08:31	Night Shift	urgent	chat	220	1
T-7188	2025-09-27 16:27	2025-09-28 17:47	Returns	normal	chat	37	1
T-7189	2025-09-27 16:29	2025-09-29 16:40	Open Platform	low	email	147	4
T-7190	2025-09-28 06:16	2025-09-30 18:16	Night Shift	high	web form	58	3
T-7191	2025-09-28 06:59	2025-09-29 01:50	Open Platform	urgent	email	97	\N
T-7192	2025-09-28 07:00	2025-09-29 17:59	Night Shift	normal	phone	77	2
T-7193	2025-09-28 07:10	2025-09-30 18:50	Returns	normal	email	32	5
T-7194	2025-09-28 08:53	2025-09-28 10:48	Night Shift	urgent	chat	53	\N
T-7195	2025-09-28 14:16	2025-09-28 15:35	Partner	normal	web form	58	4
T-7196	2025-09-28 14:56	2025-09-30 18:38	Returns	low	web form	132	\N
T-7197	2025-09-28 16:24	2025-09-29 04:58	Partner	urgent	chat	21	3
T-7198	2025-09-28 20:11	2025-10-01 09:11	Billing	normal	chat	8	\N
T-7199	2025-09-29 07:23	2025-10-01 19:31	First Line	high	Partner	7	3
T-7200	2025-09-29 08:48	2025-09-30 07:55	Open Platform	normal	web form	120	4
T-7201	2025-09-29 10:09	2025-09-29 20:22	Open Platform	urgent	email	39	4
T-7202	2025-09-29 10:14	2025-09-30 11:22	Night Shift	normal	chat	36	3
T-7203	2025-09-29 14:09	2025-09-30 18:51	Night Shift	normal	email	115	2
T-7204	2025-09-29 16:13	2025-09-30 19:35	Partner	urgent	email	105	\N
T-7205	2025-09-29 17:45	2025-10-01 00:48	Returns	high	phone	56	\N
T-7206	2025-09-29 17:52	2025-10-02 00:26	First Line	normal	email	17	4
T-7207	2025-09-29 19:35	2025-10-01 15:00	Night Shift	normal	phone	247	1
T-7208	2025-09-30 10:32	2025-10-02 13:26	Billing	normal	email	63	4
T-7209	2025-09-30 13:16	2025-10-02 18:53	First Line	urgent	email	20	5
T-7210	2025-09-30 21:02	2025-10-01 15:51	Returns	normal	chat	71	4
T-7211	2025-10-01 07:29	2025-10-02 03:40	Partner	urgent	phone	93	\N
T-7212	2025-10-01 08:42	2025-10-03 22:26	Returns	normal	phone	108	4
T-7213	2025-10-01 12:21	2025-10-02 06:56	Returns	normal	phone	32	\N
T-7214	2025-10-01 14:30	2025-10-02 16:10	First Line	urgent	email	21	5
T-7215	2025-10-01 16:02	2025-10-02 15:17	Night Shift	high	web form	135	1
T-7216	2025-10-01 21:20	2025-10-04 05:17	Billing	normal	chat	70	\N
T-7217	2025-10-02 06:51	2025-10-02 18:47	Night Shift	normal	Partner	207	\N
T-7218	2025-10-02 10:24	2025-10-03 23:54	Open Platform	low	chat	159	\N
T-7219	2025-10-02 11:04	2025-10-02 18:32	Night Shift	low	email	178	\N
T-7220	2025-10-02 11:50	2025-10-05 05:01	First Line	high	web form	28	2
T-7221	2025-10-02 12:24	2025-10-03 00:08	First Line	high	Partner	11	\N
T-7222	2025-10-02 16:38	2025-10-04 19:39	Billing	normal	email	8	4
T-7223	2025-10-02 16:44	2025-10-03 22:01	Partner	low	chat	136	5
T-7224	2025-10-02 19:29	2025-10-02 22:08	First Line	normal	phone	9	4
T-7225	2025-10-03 06:56	2025-10-03 12:52	Night Shift	normal	Partner	19	5
T-7226	2025-10-03 07:10	2025-10-05 04:24	Open Platform	low	email	159	3
T-7227	2025-10-03 08:46	2025-10-06 03:09	Billing	low	email	29	1
T-7228	2025-10-03 09:18	2025-10-04 06:05	Night Shift	high	email	54	4
T-7229	2025-10-03 12:09	2025-10-05 05:09	First Line	urgent	web form	29	4
T-7230	2025-10-03 16:09	2025-10-05 08:52	Billing	urgent	phone	59	5
T-7231	2025-10-03 17:12	2025-10-06 11:41	Returns	low	phone	99	4
T-7232	2025-10-03 17:50	2025-10-05 11:42	Night Shift	high	email	162	4
T-7233	2025-10-03 19:30	2025-10-06 13:37	First Line	high	chat	34	1
T-7234	2025-10-03 19:45	2025-10-05 18:25	Partner	normal	email	60	\N
T-7235	2025-10-04 07:06	2025-10-07 00:58	First Line	normal	chat	17	2
T-7236	2025-10-04 07:45	2025-10-04 13:43	Returns	urgent	Partner	50	4
T-7237	2025-10-04 09:46	2025-10-06 11:21	Billing	normal	email	29	5
T-7238	2025-10-04 10:32	2025-10-05 15:45	Returns	low	email	40	1
T-7239	2025-10-04 21:26	2025-10-06 12:10	Night Shift	urgent	email	109	4
T-7240	2025-10-05 09:19	2025-10-05 17:39	Night Shift	normal	Partner	185	2
T-7241	2025-10-05 13:55	2025-10-07 17:36	Open Platform	normal	chat	175	4
T-7242	2025-10-05 16:45	2025-10-07 12:22	Partner	high	chat	217	4
T-7243	2025-10-05 17:58	2025-10-07 13:59	Night Shift	urgent	phone	40	\N
T-7244	2025-10-05 20:39	2025-10-07 17:28	First Line	low	email	2	4
T-7245	2025-10-06 08:06	2025-10-06 18:11	Open Platform	normal	email	127	2
T-7246	2025-10-06 09:23	2025-10-08 00:52	Returns	high	email	91	2
T-7247	2025-10-06 10:41	2025-10-09 02:12	First Line	high	email	28	1
T-7248	2025-10-06 11:42	2025-10-07 16:46	Partner	urgent	Partner	93	\N
T-7249	2025-10-06 12:03	2025-10-08 22:48	Billing	low	chat	16	3
T-7250	2025-10-06 15:14	2025-10-08 01:51	Billing	urgent	chat	46	5
T-7251	2025-10-06 16:24	2025-10-09 04:43	Night Shift	normal	Partner	211	3
T-7252	2025-10-06 17:36	2025-10-08 16:54	Partner	normal	chat	138	\N
T-7253	2025-10-06 21:29	2025-10-08 07:58	Partner	normal	chat	135	1
T-7254	2025-10-07 08:17	2025-10-09 11:47	Billing	normal	Partner	33	4
T-7255	2025-10-07 08:27	2025-10-08 17:47	Night Shift	high	chat	59	2
T-7256	2025-10-07 09:30	2025-10-08 09:38	Billing	normal	phone	65	5
T-7257	2025-10-07 10:36	2025-10-08 14:05	Partner	high	web form	127	5
T-7258	2025-10-07 13:44	2025-10-08 16:28	Open Platform	low	phone	41	1
T-7259	2025-10-07 13:58	2025-10-08 03:18	Partner	high	email	90	3
T-7260	2025-10-07 14:55	2025-10-08 02:18	Open Platform	low	email	109	5
T-7261	2025-10-07 16:07	2025-10-08 13:04	Open Platform	normal	email	109	4
T-7262	2025-10-08 07:37	2025-10-10 01:55	Partner	high	web form	198	5
T-7263	2025-10-08 07:59	2025-10-08 19:22	First Line	low	chat	11	4
T-7264	2025-10-08 15:14	2025-10-09 10:08	Open Platform	normal	chat	143	5
T-7265	2025-10-08 17:18	2025-10-10 17:30	Night Shift	low	phone	241	2
T-7266	2025-10-09 07:33	2025-10-12 00:23	Partner	normal	email	204	\N
T-7267	2025-10-09 11:44	2025-10-09 15:10	Night Shift	normal	phone	33	5
T-7268	2025-10-09 15:18	2025-10-09 18:42	Returns	low	web form	67	\N
T-7269	2025-10-09 16:20	2025-10-09 17:12	First Line	normal	email	17	2
T-7270	2025-10-09 19:34	2025-10-11 15:53	First Line	urgent	Partner	16	3
T-7271	2025-10-10 06:54	2025-10-10 10:15	Returns	low	phone	30	3
T-7272	2025-10-10 09:27	2025-10-13 01:02	First Line	high	Partner	3	4
T-7273	2025-10-10 10:34	2025-10-11 19:32	First Line	normal	email	10	2
T-7274	2025-10-10 15:41	2025-10-12 10:05	Night Shift	normal	phone	201	5
T-7275	2025-10-10 17:03	2025-10-13 02:58	Billing	normal	chat	45	\N
T-7276	2025-10-10 18:34	2025-10-11 18:43	Billing	urgent	email	18	2
T-7277	2025-10-11 08:30	2025-10-13 09:46	Billing	normal	chat	59	5
T-7278	2025-10-11 09:35	2025-10-12 19:35	Returns	normal	email	41	2
T-7279	2025-10-11 10:27	2025-10-11 17:02	Open Platform	urgent	chat	100	5
T-7280	2025-10-11 12:36	2025-10-14 08:21	Open Platform	normal	Partner	174	4
T-7281	2025-10-11 12:51	2025-10-12 01:45	Billing	low	email	10	5
T-7282	2025-10-11 13:18	2025-10-14 03:48	Returns	normal	email	18	\N
T-7283	2025-10-11 16:17	2025-10-13 04:19	Billing	low	web form	56	3
T-7284	2025-10-11 20:28	2025-10-12 21:41	Billing	low	Partner	43	3
T-7285	2025-10-12 08:14	2025-10-14 11:15	Returns	normal	email	89	1
T-7286	2025-10-12 10:51	2025-10-14 08:33	Billing	normal	web form	68	4
T-7287	2025-10-12 16:18	2025-10-13 02:27	Billing	low	web form	61	1
T-7288	2025-10-12 20:48	2025-10-14 02:24	Partner	normal	chat	164	\N
T-7289	2025-10-13 09:04	2025-10-14 01:19	Partner	normal	chat	15	1
T-7290	2025-10-13 10:25	2025-10-14 09:58	First Line	low	email	25	\N
T-7291	2025-10-13 11:55	2025-10-15 08:15	First Line	high	chat	5	4
T-7292	2025-10-13 12:19	2025-10-15 23:00	First Line	low	web form	25	5
T-7293	2025-10-13 12:38	2025-10-13 22:30	Open Platform	low	web form	33	5
T-7294	2025-10-13 15:26	2025-10-15 19:41	Billing	normal	email	65	4
T-7295	2025-10-13 15:27	2025-10-15 00:57	First Line	high	phone	7	2
T-7296	2025-10-13 16:35	2025-10-14 01:10	Returns	normal	chat	102	5
T-7297	2025-10-13 19:07	2025-10-14 23:39	Billing	normal	Partner	75	\N
T-7298	2025-10-14 06:23	2025-10-14 23:01	Open Platform	normal	email	108	4
T-7299	2025-10-14 07:54	2025-10-15 16:34	Open Platform	normal	chat	64	\N
T-7300	2025-10-14 12:20	2025-10-15 21:30	Billing	normal	web form	79	3
T-7301	2025-10-14 12:21	2025-10-15 05:39	First Line	low	email	24	3
T-7302	2025-10-14 12:35	2025-10-17 00:26	Partner	urgent	Partner	174	4
T-7303	2025-10-14 21:03	2025-10-16 23:49	First Line	urgent	email	20	2
T-7304	2025-10-15 10:51	2025-10-17 12:08	Night Shift	normal	Partner	252	1
T-7305	2025-10-15 13:13	2025-10-16 16:08	Night Shift	normal	Partner	86	2
T-7306	2025-10-15 14:14	2025-10-15 21:59	Open Platform	normal	email	119	4
T-7307	2025-10-15 15:24	2025-10-16 03:57	Night Shift	normal	email	118	2
T-7308	2025-10-15 19:57	2025-10-18 11:07	Night Shift	normal	Partner	200	\N
T-7309	2025-10-16 09:52	2025-10-18 01:48	Billing	low	Partner	48	4
T-7310	2025-10-16 10:40	2025-10-17 02:36	Night Shift	urgent	phone	244	3
T-7311	2025-10-16 11:40	2025-10-18 12:12	First Line	normal	email	30	\N
T-7312	2025-10-16 14:05	2025-10-17 03:39	Open Platform	normal	Partner	18	2
T-7313	2025-10-16 16:08	2025-10-19 10:00	Open Platform	urgent	email	51	5
T-7314	2025-10-17 07:05	2025-10-17 20:45	Returns	normal	web form	130	4
T-7315	2025-10-17 07:28	2025-10-19 19:47	First Line	normal	email	12	1
T-7316	2025-10-17 08:05	2025-10-17 23:24	Returns	high	chat	90	5
T-7317	2025-10-17 09:34	2025-10-18 22:11	Returns	normal	chat	24	3
T-7318	2025-10-17 10:24	2025-10-20 06:05	Billing	urgent	web form	74	4
T-7319	2025-10-17 10:29	2025-10-19 17:55	First Line	urgent	chat	35	4
T-7320	2025-10-17 11:41	2025-10-18 23:46	Night Shift	normal	email	137	5
T-7321	2025-10-17 14:27	2025-10-17 21:11	First Line	urgent	email	29	4
T-7322	2025-10-17 17:47	2025-10-19 08:03	Open Platform	normal	web form	169	\N
T-7323	2025-10-17 18:20	2025-10-18 08:47	Open Platform	high	Partner	71	\N
T-7324	2025-10-17 19:10	2025-10-19 09:22	Billing	normal	chat	88	4
T-7325	2025-10-18 06:51	2025-10-19 15:33	Open Platform	high	email	179	5
T-7326	2025-10-18 12:24	2025-10-20 16:23	Partner	normal	phone	185	5
T-7327	2025-10-18 16:56	2025-10-19 21:33	Returns	low	web form	81	5
T-7328	2025-10-18 17:44	2025-10-19 18:23	Open Platform	normal	Partner	176	5
T-7329	2025-10-18 19:02	2025-10-21 00:35	First Line	low	phone	7	4
T-7330	2025-10-19 07:14	2025-10-19 20:48	Billing	normal	email	50	\N
T-7331	2025-10-19 08:08	2025-10-19 20:41	Night Shift	normal	email	19	4
T-7332	2025-10-19 09:19	2025-10-21 22:14	Returns	low	email	83	4
T-7333	2025-10-19 12:06	2025-10-21 13:22	Open Platform	high	Partner	179	5
T-7334	2025-10-19 15:02	2025-10-22 06:03	Returns	normal	phone	37	2
T-7335	2025-10-19 19:11	2025-10-22 02:27	Returns	normal	Partner	114	\N
T-7336	2025-10-20 11:59	2025-10-21 07:32	Night Shift	normal	chat	171	1
T-7337	2025-10-20 14:21	2025-10-20 23:17	Open Platform	normal	chat	30	\N
T-7338	2025-10-20 15:11	2025-10-20 21:07	Partner	normal	email	123	\N
T-7339	2025-10-20 15:34	2025-10-22 21:11	Returns	normal	phone	27	2
T-7340	2025-10-20 18:56	2025-10-21 02:16	Partner	normal	web form	223	\N
T-7341	2025-10-21 08:38	2025-10-23 10:56	First Line	normal	email	21	1
T-7342	2025-10-21 09:56	2025-10-23 15:37	Open Platform	normal	email	63	2
T-7343	2025-10-21 12:00	2025-10-23 08:37	Open Platform	normal	chat	94	\N
T-7344	2025-10-21 12:08	2025-10-22 02:23	Night Shift	normal	web form	232	4
T-7345	2025-10-21 16:13	2025-10-23 23:26	Partner	normal	Partner	143	5
T-7346	2025-10-21 17:27	2025-10-22 08:13	Returns	normal	phone	111	5
T-7347	2025-10-21 19:15	2025-10-22 10:29	Partner	high	web form	194	\N
T-7348	2025-10-21 19:42	2025-10-22 14:44	Billing	normal	chat	89	3
T-7349	2025-10-22 12:13	2025-10-22 14:21	Open Platform	normal	chat	88	1
T-7350	2025-10-22 12:24	2025-10-22 19:16	Open Platform	normal	email	84	\N
T-7351	2025-10-22 14:30	2025-10-22 21:37	Partner	normal	email	147	4
T-7352	2025-10-22 15:27	2025-10-25 02:20	Returns	normal	phone	33	5
T-7353	2025-10-22 17:29	2025-10-25 06:25	Billing	normal	phone	48	5
T-7354	2025-10-22 19:06	2025-10-24 14:12	Open Platform	urgent	phone	133	1
T-7355	2025-10-22 20:08	2025-10-24 05:36	Night Shift	high	email	210	4
T-7356	2025-10-23 08:33	2025-10-25 13:01	First Line	high	email	33	5
T-7357	2025-10-23 09:03	2025-10-23 18:22	Returns	normal	phone	130	4
T-7358	2025-10-23 10:29	2025-10-25 19:06	First Line	high	email	34	2
T-7359	2025-10-23 10:52	2025-10-26 05:16	First Line	urgent	Partner	23	\N
T-7360	2025-10-23 11:18	2025-10-25 08:39	First Line	normal	chat	26	\N
T-7361	2025-10-23 13:03	2025-10-25 13:47	Returns	high	phone	51	3
T-7362	2025-10-23 17:40	2025-10-24 00:28	Returns	normal	chat	69	4
T-7363	2025-10-23 18:23	2025-10-24 03:43	Open Platform	normal	email	42	\N
T-7364	2025-10-23 18:37	2025-10-23 23:14	First Line	high	phone	5	3
T-7365	2025-10-24 08:03	2025-10-25 13:37	Partner	normal	email	130	5
T-7366	2025-10-24 15:26	2025-10-26 07:29	First Line	normal	email	11	3
T-7367	2025-10-24 15:51	2025-10-27 13:36	Partner	urgent	chat	213	\N
T-7368	2025-10-24 17:06	2025-10-25 07:28	Returns	urgent	phone	18	\N
T-7369	2025-10-24 17:16	2025-10-26 02:58	Returns	normal	web form	33	\N
T-7370	2025-10-24 18:03	2025-10-24 19:49	Night Shift	high	email	55	4
T-7371	2025-10-25 06:24	2025-10-25 12:53	Open Platform	urgent	web form	115	\N
T-7372	2025-10-25 06:34	2025-10-25 18:22	Night Shift	high	chat	103	4
T-7373	2025-10-25 10:06	2025-10-27 09:28	Returns	normal	phone	79	2
T-7374	2025-10-25 11:43	2025-10-27 07:14	Open Platform	high	chat	145	1
T-7375	2025-10-25 11:55	2025-10-27 19:14	Night Shift	high	web form	158	5
T-7376	2025-10-25 13:24	2025-10-26 22:51	Billing	normal	email	75	\N
T-7377	2025-10-25 13:33	2025-10-27 21:41	Partner	urgent	email	111	2
T-7378	2025-10-25 16:17	2025-10-26 18:26	Night Shift	normal	email	37	4
T-7379	2025-10-26 06:25	2025-10-27 08:16	Billing	high	Partner	48	3
T-7380	2025-10-26 06:34	2025-10-28 12:42	Partner	normal	Partner	106	\N
T-7381	2025-10-26 08:38	2025-10-26 14:46	Returns	high	web form	44	\N
T-7382	2025-10-26 08:57	2025-10-26 18:14	First Line	high	email	18	\N
T-7383	2025-10-26 08:58	2025-10-27 04:40	First Line	normal	phone	31	3
T-7384	2025-10-26 11:23	2025-10-26 18:06	Returns	normal	web form	111	3
T-7385	2025-10-26 11:39	2025-10-28 17:33	Open Platform	normal	email	100	\N
T-7386	2025-10-26 14:16	2025-10-26 15:28	First Line	low	phone	9	4
T-7387	2025-10-26 21:01	2025-10-27 15:00	First Line	low	web form	35	4
T-7388	2025-10-27 07:43	2025-10-28 05:12	Billing	urgent	web form	18	5
T-7389	2025-10-27 14:07	2025-10-29 19:36	Partner	urgent	web form	79	4
T-7390	2025-10-27 15:59	2025-10-28 03:07	First Line	normal	Partner	21	1
T-7391	2025-10-27 20:06	2025-10-30 02:30	Partner	low	web form	74	\N
T-7392	2025-10-28 11:31	2025-10-29 14:22	Night Shift	high	Partner	138	1
T-7393	2025-10-28 12:56	2025-10-30 23:13	Billing	normal	web form	33	3
T-7394	2025-10-28 14:10	2025-10-29 14:17	Partner	urgent	email	40	\N
T-7395	2025-10-28 15:32	2025-10-30 01:16	First Line	high	email	3	5
T-7396	2025-10-28 20:01	2025-10-30 09:32	Partner	normal	Partner	20	2
T-7397	2025-10-29 06:46	\N	Partner	urgent	Partner	123	\N
T-7398	2025-10-29 09:24	2025-10-31 21:27	First Line	normal	email	17	\N
T-7399	2025-10-29 09:54	2025-10-30 15:50	Partner	normal	email	116	5
T-7400	2025-10-29 10:49	2025-10-30 08:23	First Line	low	Partner	14	5
T-7401	2025-10-30 06:05	\N	Returns	low	Partner	31	\N
T-7402	2025-10-30 09:05	2025-10-30 11:26	Billing	normal	Partner	78	\N
T-7403	2025-10-30 12:04	2025-10-31 20:48	Open Platform	high	phone	144	2
T-7404	2025-10-30 15:26	2025-10-30 19:50	First Line	high	web form	14	5
T-7405	2025-10-30 18:32	2025-10-31 23:58	Billing	normal	phone	44	5
T-7406	2025-10-31 06:51	2025-10-31 20:37	Billing	normal	phone	69	4
T-7407	2025-10-31 10:37	2025-11-01 09:44	Returns	normal	chat	62	\N
T-7408	2025-10-31 11:26	2025-11-02 06:42	Partner	normal	web form	201	2
T-7409	2025-10-31 14:52	2025-11-02 10:32	First Line	urgent	chat	9	1
T-7410	2025-10-31 19:08	2025-11-01 01:19	Night Shift	normal	Partner	55	5
T-7411	2025-11-01 07:41	2025-11-02 04:33	First Line	high	email	4	\N
T-7412	2025-11-01 09:06	2025-11-03 09:40	Billing	urgent	email	32	4
T-7413	2025-11-01 16:25	2025-11-02 13:49	Partner	normal	chat	88	2
T-7414	2025-11-01 17:06	2025-11-03 17:00	Night Shift	normal	chat	100	4
T-7415	2025-11-01 17:09	2025-11-03 23:01	Returns	high	email	61	3
T-7416	2025-11-01 18:43	2025-11-02 08:25	Returns	urgent	phone	98	2
T-7417	2025-11-01 20:30	2025-11-02 22:29	Returns	normal	phone	55	2
T-7418	2025-11-01 21:12	2025-11-04 03:28	Night Shift	urgent	email	179	5
T-7419	2025-11-02 11:01	2025-11-04 16:27	Partner	urgent	Partner	78	5
T-7420	2025-11-02 13:35	2025-11-02 21:56	Night Shift	low	email	233	2
T-7421	2025-11-02 16:36	2025-11-04 21:34	First Line	normal	email	13	1
T-7422	2025-11-03 07:22	2025-11-04 17:17	Returns	normal	phone	29	5
T-7423	2025-11-03 08:39	2025-11-04 23:07	Night Shift	normal	email	254	\N
T-7424	2025-11-03 10:39	2025-11-04 07:00	Returns	normal	Partner	69	5
T-7425	2025-11-03 13:23	2025-11-04 21:08	Billing	urgent	phone	55	2
T-7426	2025-11-03 15:05	2025-11-05 04:28	Open Platform	low	web form	40	2
T-7427	2025-11-03 16:23	2025-11-06 02:52	Night Shift	high	email	45	3
T-7428	2025-11-03 17:02	2025-11-04 03:05	Partner	normal	Partner	72	\N
T-7429	2025-11-04 11:00	2025-11-06 21:12	First Line	normal	web form	22	4
T-7430	2025-11-04 13:51	2025-11-04 23:37	Returns	normal	Partner	20	4
T-7431	2025-11-04 18:53	2025-11-06 11:53	Open Platform	high	email	88	4
T-7432	2025-11-05 07:03	2025-11-06 07:25	Partner	urgent	chat	47	\N
T-7433	2025-11-05 09:02	2025-11-06 15:12	Night Shift	normal	chat	68	5
T-7434	2025-11-05 09:02	2025-11-05 18:07	Night Shift	normal	phone	152	\N
T-7435	2025-11-05 17:26	2025-11-07 11:10	First Line	normal	chat	28	5
T-7436	2025-11-06 10:34	2025-11-08 05:22	First Line	normal	Partner	15	\N
T-7437	2025-11-06 12:39	2025-11-07 13:28	Night Shift	high	web form	189	1
T-7438	2025-11-06 19:31	2025-11-07 13:11	Open Platform	normal	web form	73	\N
T-7439	2025-11-07 11:12	2025-11-08 00:12	First Line	normal	email	21	1
T-7440	2025-11-07 16:58	2025-11-09 08:56	Returns	high	email	30	\N
T-7441	2025-11-07 17:16	2025-11-10 06:05	Partner	high	email	80	3
T-7442	2025-11-08 08:07	2025-11-08 17:18	Partner	normal	Partner	121	5
T-7443	2025-11-08 14:55	2025-11-10 06:14	Partner	normal	phone	168	5
T-7444	2025-11-08 14:58	2025-11-09 08:50	Partner	normal	web form	69	4
T-7445	2025-11-08 18:21	2025-11-09 05:24	Returns	high	phone	48	5
T-7446	2025-11-08 18:50	2025-11-09 19:59	Returns	urgent	chat	98	3
T-7447	2025-11-08 19:03	2025-11-09 07:04	Partner	low	email	108	4
T-7448	2025-11-09 09:44	2025-11-10 00:09	Night Shift	normal	chat	221	4
T-7449	2025-11-09 10:12	2025-11-12 01:37	Returns	high	web form	81	\N
T-7450	2025-11-09 12:03	2025-11-12 04:37	Partner	normal	Partner	168	3
T-7451	2025-11-09 14:15	2025-11-10 05:47	Partner	high	web form	177	2
T-7452	2025-11-09 14:24	2025-11-12 05:42	Open Platform	normal	email	121	\N
T-7453	2025-11-09 15:42	2025-11-10 03:32	Billing	normal	email	82	2
T-7454	2025-11-09 17:11	2025-11-12 06:47	Partner	low	Partner	146	1
T-7455	2025-11-09 18:05	2025-11-12 04:06	Open Platform	urgent	chat	12	4
T-7456	2025-11-10 08:29	2025-11-12 05:29	Returns	normal	phone	127	5
T-7457	2025-11-10 11:03	2025-11-12 00:14	Billing	urgent	phone	85	4
T-7458	2025-11-10 11:09	2025-11-12 09:57	First Line	normal	web form	2	4
T-7459	2025-11-10 12:17	2025-11-12 03:07	Billing	high	Partner	24	\N
T-7460	2025-11-10 12:51	2025-11-12 01:41	Billing	normal	email	9	5
T-7461	2025-11-10 14:22	2025-11-12 08:56	Night Shift	high	email	82	\N
T-7462	2025-11-10 17:03	2025-11-11 16:24	Partner	urgent	email	121	\N
T-7463	2025-11-10 19:32	2025-11-13 03:28	Night Shift	urgent	web form	175	2
T-7464	2025-11-10 20:22	2025-11-13 05:55	Night Shift	urgent	email	128	\N
T-7465	2025-11-11 08:21	2025-11-13 01:59	Returns	low	email	113	\N
T-7466	2025-11-11 08:57	2025-11-13 18:11	First Line	low	web form	33	4
T-7467	2025-11-11 14:45	2025-11-12 16:04	Returns	high	Partner	123	5
T-7468	2025-11-11 14:48	2025-11-12 00:27	First Line	high	web form	35	1
T-7469	2025-11-11 17:17	2025-11-13 19:02	Partner	normal	email	150	4
T-7470	2025-11-11 19:19	2025-11-14 12:56	Night Shift	normal	email	48	4
T-7471	2025-11-11 20:37	2025-11-13 16:17	Returns	normal	chat	110	1
T-7472	2025-11-12 06:05	2025-11-14 11:52	Returns	normal	phone	53	5
T-7473	2025-11-12 08:45	2025-11-14 07:50	Partner	urgent	email	222	\N
T-7474	2025-11-12 09:10	2025-11-14 09:40	Partner	low	Partner	166	4
T-7475	2025-11-12 11:43	2025-11-13 16:09	Partner	normal	email	129	2
T-7476	2025-11-12 13:41	2025-11-15 02:26	Returns	low	phone	84	2
T-7477	2025-11-12 15:10	2025-11-14 12:03	Returns	high	phone	49	4
T-7478	2025-11-12 19:17	2025-11-14 02:56	Night Shift	normal	web form	125	3
T-7479	2025-11-12 19:18	2025-11-14 01:51	Returns	high	Partner	66	3
T-7480	2025-11-12 19:23	2025-11-15 01:01	Night Shift	normal	email	69	4
T-7481	2025-11-12 21:21	2025-11-15 11:54	First Line	urgent	email	27	4
T-7482	2025-11-12 21:23	2025-11-14 10:21	Open Platform	urgent	chat	31	3
T-7483	2025-11-13 07:01	2025-11-13 21:12	Night Shift	urgent	Partner	59	5
T-7484	2025-11-13 11:45	2025-11-15 08:00	Returns	normal	Partner	93	3
T-7485	2025-11-13 15:08	2025-11-15 20:09	Billing	low	phone	14	4
T-7486	2025-11-13 15:19	2025-11-14 22:57	Billing	urgent	web form	12	2
T-7487	2025-11-13 17:42	2025-11-16 04:02	Night Shift	urgent	Partner	139	\N
T-7488	2025-11-14 07:53	2025-11-16 12:15	Partner	normal	email	225	\N
T-7489	2025-11-14 08:45	2025-11-14 16:21	Partner	urgent	email	180	3
T-7490	2025-11-14 10:36	2025-11-14 11:18	First Line	high	email	6	3
T-7491	2025-11-14 19:03	\N	First Line	high	email	14	\N
T-7492	2025-11-15 07:47	2025-11-17 23:46	Partner	normal	web form	210	5
T-7493	2025-11-15 11:31	2025-11-15 14:20	Partner	normal	email	108	4
T-7494	2025-11-15 15:53	2025-11-17 11:01	Night Shift	normal	chat	159	1
T-7495	2025-11-16 07:11	\N	Partner	urgent	Partner	183	\N
T-7496	2025-11-16 09:27	2025-11-18 06:39	Returns	high	phone	72	2
T-7497	2025-11-16 11:36	2025-11-18 13:16	Night Shift	high	chat	242	4
T-7498	2025-11-16 12:06	2025-11-17 11:06	Billing	normal	email	43	2
T-7499	2025-11-16 16:39	2025-11-18 15:30	Billing	urgent	web form	48	5
T-7500	2025-11-16 17:21	2025-11-18 23:25	Night Shift	normal	email	117	5
T-7501	2025-11-16 18:49	2025-11-17 16:28	Open Platform	urgent	email	76	2
T-7502	2025-11-17 11:06	2025-11-19 14:57	First Line	low	phone	5	5
T-7503	2025-11-17 13:57	2025-11-18 18:29	Billing	normal	Partner	89	\N
T-7504	2025-11-17 16:53	2025-11-18 21:50	Open Platform	low	web form	141	\N
T-7505	2025-11-17 18:04	2025-11-18 15:03	First Line	low	email	3	\N
T-7506	2025-11-18 07:16	2025-11-20 23:31	Night Shift	normal	phone	147	5
T-7507	2025-11-18 08:52	2025-11-21 02:42	Partner	high	web form	151	4
T-7508	2025-11-18 10:26	2025-11-21 05:27	First Line	normal	phone	32	5
T-7509	2025-11-18 11:02	2025-11-19 19:09	First Line	high	phone	35	\N
T-7510	2025-11-18 11:20	2025-11-18 23:24	Partner	high	phone	180	2
T-7511	2025-11-18 11:21	2025-11-19 17:54	Returns	normal	phone	103	\N
T-7512	2025-11-18 15:04	2025-11-20 06:41	First Line	normal	Partner	31	5
T-7513	2025-11-19 06:52	2025-11-20 13:02	Partner	normal	phone	99	\N
T-7514	2025-11-19 06:53	2025-11-19 18:24	Billing	urgent	phone	39	3
T-7515	2025-11-19 08:19	2025-11-19 14:49	Billing	normal	email	29	2
T-7516	2025-11-19 08:42	2025-11-21 16:03	Returns	urgent	email	66	4
T-7517	2025-11-19 16:53	2025-11-21 12:23	First Line	high	email	18	4
T-7518	2025-11-19 17:15	2025-11-20 02:59	Returns	normal	email	114	\N
T-7519	2025-11-19 17:54	2025-11-20 21:36	Open Platform	normal	email	115	\N
T-7520	2025-11-19 18:44	2025-11-21 08:39	First Line	normal	Partner	35	1
T-7521	2025-11-20 07:29	\N	Night Shift	normal	phone	40	\N
T-7522	2025-11-20 08:12	2025-11-21 05:40	Returns	normal	chat	53	3
T-7523	2025-11-20 08:13	2025-11-22 14:31	Partner	urgent	chat	141	4
T-7524	2025-11-20 09:27	2025-11-21 18:46	First Line	low	Partner	30	4
T-7525	2025-11-20 10:44	2025-11-22 11:01	Billing	urgent	web form	63	3
T-7526	2025-11-20 12:33	2025-11-21 17:13	Returns	high	email	22	5
T-7527	2025-11-20 13:52	2025-11-21 16:07	Night Shift	high	email	94	\N
T-7528	2025-11-21 06:26	2025-11-22 12:12	Open Platform	urgent	Partner	174	4
T-7529	2025-11-21 06:56	2025-11-24 00:07	Billing	low	email	54	1
T-7530	2025-11-21 07:22	2025-11-22 20:37	First Line	normal	email	18	5
T-7531	2025-11-21 08:19	2025-11-23 13:01	Open Platform	normal	web form	69	\N
T-7532	2025-11-21 11:41	2025-11-23 15:37	Billing	low	Partner	76	4
T-7533	2025-11-21 11:43	2025-11-23 04:07	Billing	urgent	web form	43	\N
T-7534	2025-11-21 15:19	2025-11-23 14:01	First Line	normal	email	7	5
T-7535	2025-11-22 07:20	2025-11-23 00:46	Returns	low	email	92	2
T-7536	2025-11-22 12:14	2025-11-22 22:04	Billing	low	email	83	2
T-7537	2025-11-22 13:10	2025-11-24 12:29	Billing	normal	Partner	71	4
T-7538	2025-11-22 13:40	2025-11-24 00:33	Night Shift	normal	email	208	\N
T-7539	2025-11-22 16:12	2025-11-25 05:27	Partner	normal	web form	129	3
T-7540	2025-11-22 18:23	2025-11-24 03:34	Open Platform	high	phone	89	3
T-7541	2025-11-22 19:49	2025-11-24 16:44	Billing	urgent	Partner	52	4
T-7542	2025-11-22 21:36	\N	Billing	high	web form	77	\N
T-7543	2025-11-23 06:44	2025-11-23 14:29	Open Platform	normal	web form	114	4
T-7544	2025-11-23 10:30	2025-11-23 16:27	Billing	urgent	email	78	4
T-7545	2025-11-23 12:11	2025-11-26 02:14	Partner	normal	phone	195	\N
T-7546	2025-11-23 14:10	2025-11-26 03:42	First Line	low	email	19	5
T-7547	2025-11-24 06:07	2025-11-26 23:25	Billing	high	web form	60	2
T-7548	2025-11-24 07:42	2025-11-25 20:41	Open Platform	normal	phone	86	4
T-7549	2025-11-24 09:04	2025-11-26 14:14	First Line	normal	chat	13	4
T-7550	2025-11-24 09:06	2025-11-26 15:43	Night Shift	high	Partner	162	4
T-7551	2025-11-24 09:33	2025-11-27 06:47	Open Platform	low	email	176	\N
T-7552	2025-11-24 11:15	2025-11-26 16:11	Night Shift	high	phone	250	5
T-7553	2025-11-24 11:52	2025-11-26 01:03	Returns	low	email	47	1
T-7554	2025-11-24 15:07	2025-11-27 03:37	Returns	high	Partner	105	3
T-7555	2025-11-24 16:35	2025-11-25 07:20	Returns	high	email	131	5
T-7556	2025-11-24 18:10	2025-11-25 10:51	Billing	normal	chat	51	\N
T-7557	2025-11-24 18:28	2025-11-27 02:45	Billing	high	phone	41	2
T-7558	2025-11-25 06:28	2025-11-25 20:45	Billing	normal	email	59	5
T-7559	2025-11-25 06:55	2025-11-26 19:55	First Line	normal	email	16	\N
T-7560	2025-11-25 11:13	2025-11-27 07:36	Returns	normal	phone	131	1
T-7561	2025-11-25 11:55	2025-11-26 10:25	Open Platform	low	phone	164	3
T-7562	2025-11-25 15:00	2025-11-28 01:18	Returns	low	email	65	5
T-7563	2025-11-25 17:44	2025-11-28 13:32	Night Shift	normal	phone	213	4
T-7564	2025-11-25 18:07	2025-11-27 19:17	Billing	normal	phone	31	\N
T-7565	2025-11-25 19:55	2025-11-26 20:16	Partner	urgent	Partner	172	4
T-7566	2025-11-25 21:14	2025-11-26 06:49	Billing	high	Partner	51	4
T-7567	2025-11-26 07:11	2025-11-28 11:43	First Line	normal	email	26	4
T-7568	2025-11-26 09:10	2025-11-26 11:01	First Line	urgent	web form	12	1
T-7569	2025-11-26 12:32	2025-11-27 23:40	Returns	normal	chat	71	4
T-7570	2025-11-26 19:37	2025-11-27 11:45	First Line	normal	chat	34	1
T-7571	2025-11-27 06:04	2025-11-28 18:09	First Line	high	chat	23	5
T-7572	2025-11-27 07:47	2025-11-28 11:51	First Line	urgent	Partner	12	4
T-7573	2025-11-27 19:42	2025-11-28 03:53	Open Platform	low	phone	118	\N
T-7574	2025-11-27 20:13	2025-11-30 03:06	Returns	low	web form	49	3
T-7575	2025-11-28 09:07	2025-11-30 04:47	First Line	high	phone	11	\N
T-7576	2025-11-28 12:31	2025-11-30 11:02	First Line	normal	Partner	4	4
T-7577	2025-11-28 15:55	2025-11-30 04:09	Returns	normal	Partner	121	5
T-7578	2025-11-28 15:56	2025-11-28 23:55	Billing	high	Partner	57	4
T-7579	2025-11-28 17:15	2025-11-30 00:12	Partner	high	email	89	5
T-7580	2025-11-28 18:47	2025-12-01 05:05	Night Shift	high	email	205	\N
T-7581	2025-11-28 21:10	2025-11-29 03:01	Night Shift	low	web form	225	1
T-7582	2025-11-29 07:23	2025-11-29 12:53	Open Platform	normal	email	91	5
T-7583	2025-11-29 18:10	2025-12-01 21:14	Partner	low	phone	69	4
T-7584	2025-11-29 18:49	2025-11-30 22:13	Night Shift	normal	chat	153	4
T-7585	2025-11-30 07:29	2025-11-30 11:10	Night Shift	urgent	chat	25	1
T-7586	2025-11-30 08:03	2025-12-01 14:11	Night Shift	normal	email	144	5
T-7587	2025-11-30 09:14	2025-11-30 22:46	Returns	high	Partner	54	3
T-7588	2025-11-30 12:09	2025-11-30 22:56	Billing	high	email	31	5
T-7589	2025-11-30 12:39	2025-12-02 15:04	Partner	normal	email	218	2
T-7590	2025-11-30 13:50	2025-12-01 09:06	First Line	low	email	12	4
T-7591	2025-11-30 16:52	2025-12-02 02:44	Partner	high	Partner	148	4
T-7592	2025-11-30 19:51	2025-12-02 15:25	Billing	low	email	76	3
T-7593	2025-12-01 09:42	2025-12-01 21:43	Open Platform	normal	Partner	49	3
T-7594	2025-12-01 10:00	2025-12-03 04:58	Open Platform	normal	chat	107	4
T-7595	2025-12-01 14:04	\N	Billing	normal	phone	17	\N
T-7596	2025-12-01 16:12	2025-12-03 19:16	First Line	urgent	web form	29	2
T-7597	2025-12-01 20:46	2025-12-04 15:12	Returns	high	Partner	71	1
T-7598	2025-12-02 06:51	2025-12-03 23:20	Partner	normal	Partner	20	5
T-7599	2025-12-02 07:51	2025-12-04 23:57	Open Platform	normal	chat	129	4
T-7600	2025-12-02 10:48	2025-12-04 13:30	Partner	normal	email	94	2
T-7601	2025-12-02 11:52	2025-12-04 14:04	Billing	normal	email	44	\N
T-7602	2025-12-02 13:07	2025-12-03 07:58	Open Platform	low	web form	37	5
T-7603	2025-12-02 13:18	2025-12-04 13:14	First Line	normal	Partner	30	5
T-7604	2025-12-02 14:10	2025-12-04 08:13	Night Shift	normal	Partner	246	5
T-7605	2025-12-02 14:24	2025-12-02 17:21	First Line	low	phone	21	3
T-7606	2025-12-02 17:57	2025-12-05 00:49	Billing	normal	chat	35	1
T-7607	2025-12-02 20:27	2025-12-02 22:00	First Line	normal	Partner	7	5
T-7608	2025-12-02 21:09	2025-12-05 13:55	Open Platform	normal	chat	40	4
T-7609	2025-12-03 07:43	2025-12-06 01:24	Night Shift	urgent	email	242	4
T-7610	2025-12-03 08:50	2025-12-04 00:44	First Line	normal	email	24	5
T-7611	2025-12-03 09:27	2025-12-04 20:10	Returns	normal	Partner	72	2
T-7612	2025-12-03 11:25	2025-12-04 16:30	First Line	normal	chat	30	2
T-7613	2025-12-03 12:46	2025-12-04 13:37	Open Platform	high	web form	118	\N
T-7614	2025-12-03 13:47	2025-12-05 00:13	Partner	high	web form	220	4
T-7615	2025-12-03 17:37	2025-12-04 00:47	Night Shift	normal	web form	184	1
T-7616	2025-12-03 18:42	2025-12-06 06:31	Billing	low	web form	39	\N
T-7617	2025-12-03 20:47	2025-12-06 00:11	Returns	normal	phone	35	4
T-7618	2025-12-03 21:11	2025-12-04 22:36	Returns	normal	web form	112	5
T-7619	2025-12-04 06:33	2025-12-07 02:15	Returns	urgent	web form	89	1
T-7620	2025-12-04 08:44	2025-12-07 04:27	Open Platform	high	email	136	4
T-7621	2025-12-04 20:06	2025-12-05 08:03	First Line	low	chat	26	1
T-7622	2025-12-04 21:14	2025-12-05 22:25	First Line	normal	Partner	19	1
T-7623	2025-12-04 21:32	2025-12-05 21:03	First Line	high	phone	13	4
T-7624	2025-12-05 13:30	2025-12-06 06:12	First Line	normal	chat	18	5
T-7625	2025-12-05 18:14	2025-12-06 17:07	First Line	normal	Partner	14	1
T-7626	2025-12-05 19:49	2025-12-06 21:00	Billing	high	web form	24	1
T-7627	2025-12-05 20:12	2025-12-06 08:30	First Line	low	Partner	33	4
T-7628	2025-12-06 07:48	2025-12-07 00:38	First Line	low	phone	16	1
T-7629	2025-12-06 08:07	2025-12-07 08:42	Returns	normal	email	25	3
T-7630	2025-12-06 09:05	2025-12-09 00:50	Partner	low	phone	37	2
T-7631	2025-12-06 12:05	2025-12-08 14:50	First Line	normal	web form	25	\N
T-7632	2025-12-06 16:06	2025-12-08 22:04	Returns	normal	web form	80	4
T-7633	2025-12-07 08:21	2025-12-09 18:20	Partner	high	email	104	5
T-7634	2025-12-07 14:44	\N	Returns	normal	email	63	\N
T-7635	2025-12-07 16:55	2025-12-09 08:23	Billing	low	chat	9	\N
T-7636	2025-12-07 17:32	2025-12-09 17:15	Returns	urgent	Partner	87	\N
T-7637	2025-12-08 06:13	2025-12-09 07:31	Night Shift	low	web form	72	5
T-7638	2025-12-08 06:27	2025-12-10 01:36	Returns	high	chat	123	1
T-7639	2025-12-08 06:29	2025-12-10 20:30	Billing	urgent	email	25	3
T-7640	2025-12-08 06:43	2025-12-08 16:13	Open Platform	urgent	email	97	2
T-7641	2025-12-08 09:07	2025-12-09 08:22	Returns	low	email	66	1
T-7642	2025-12-08 15:42	2025-12-10 22:04	Partner	low	Partner	222	5
T-7643	2025-12-08 20:15	2025-12-11 08:58	Returns	urgent	Partner	31	5
T-7644	2025-12-09 08:13	2025-12-10 05:06	First Line	normal	email	28	5
T-7645	2025-12-09 09:08	2025-12-11 07:01	Partner	high	phone	38	1
T-7646	2025-12-09 12:59	2025-12-10 04:40	First Line	normal	web form	16	4
T-7647	2025-12-09 14:10	2025-12-11 17:47	Open Platform	normal	email	19	2
T-7648	2025-12-09 15:25	2025-12-11 14:07	Billing	normal	email	33	5
T-7649	2025-12-09 15:32	2025-12-10 08:29	Billing	high	email	44	5
T-7650	2025-12-09 16:18	2025-12-10 12:49	Open Platform	normal	chat	146	\N
T-7651	2025-12-09 18:43	2025-12-11 14:49	Returns	urgent	web form	25	1
T-7652	2025-12-09 19:34	2025-12-10 20:56	Billing	normal	email	34	5
T-7653	2025-12-09 19:38	2025-12-10 20:00	Open Platform	high	web form	91	5
T-7654	2025-12-09 21:17	2025-12-11 09:02	Billing	normal	Partner	77	2
T-7655	2025-12-10 08:52	2025-12-11 16:25	Open Platform	normal	chat	161	2
T-7656	2025-12-10 18:33	2025-12-13 14:20	Night Shift	high	web form	205	\N
T-7657	2025-12-10 19:17	2025-12-13 03:42	Night Shift	low	Partner	229	\N
T-7658	2025-12-11 06:41	2025-12-12 19:22	Returns	normal	phone	14	1
T-7659	2025-12-11 10:36	2025-12-13 22:38	Night Shift	normal	Partner	162	3
T-7660	2025-12-11 12:17	2025-12-11 20:26	Open Platform	normal	Partner	39	1
T-7661	2025-12-11 12:46	2025-12-11 18:59	First Line	high	phone	9	3
T-7662	2025-12-11 14:18	2025-12-13 11:06	Night Shift	normal	web form	28	\N
T-7663	2025-12-11 15:55	2025-12-14 04:01	Partner	normal	chat	102	3
T-7664	2025-12-11 17:22	2025-12-13 03:09	Open Platform	normal	Partner	117	2
T-7665	2025-12-11 18:06	2025-12-14 04:25	Night Shift	normal	email	20	\N
T-7666	2025-12-11 19:34	2025-12-13 03:35	Billing	normal	chat	84	\N
T-7667	2025-12-11 20:10	2025-12-14 07:22	Night Shift	normal	email	155	5
T-7668	2025-12-11 20:56	2025-12-12 02:33	Partner	normal	chat	221	\N
T-7669	2025-12-12 09:46	2025-12-13 18:04	Partner	normal	email	114	5
T-7670	2025-12-12 10:22	2025-12-13 20:16	First Line	low	web form	3	2
T-7671	2025-12-12 10:39	2025-12-13 18:03	Billing	normal	phone	55	4
T-7672	2025-12-12 11:08	2025-12-14 22:46	Billing	low	Partner	28	3
T-7673	2025-12-12 12:23	2025-12-12 17:56	Returns	high	web form	93	2
T-7674	2025-12-12 15:36	2025-12-13 00:54	Night Shift	high	Partner	189	1
T-7675	2025-12-12 16:08	2025-12-13 03:52	Billing	high	chat	20	\N
T-7676	2025-12-13 08:43	2025-12-14 16:11	Billing	high	email	47	2
T-7677	2025-12-13 16:09	2025-12-14 18:52	Billing	normal	email	81	1
T-7678	2025-12-13 19:11	2025-12-15 07:35	Night Shift	low	Partner	150	4
T-7679	2025-12-14 09:07	2025-12-14 11:35	Returns	normal	email	44	\N
T-7680	2025-12-14 09:27	2025-12-15 01:47	Night Shift	normal	phone	172	4
T-7681	2025-12-14 17:47	2025-12-15 19:44	Partner	low	Partner	28	5
T-7682	2025-12-15 06:26	2025-12-17 17:42	Partner	urgent	email	21	1
T-7683	2025-12-15 08:59	2025-12-16 05:28	Billing	normal	phone	57	\N
T-7684	2025-12-15 11:58	2025-12-15 23:18	Returns	low	Partner	83	2
T-7685	2025-12-15 12:05	2025-12-16 08:48	Returns	high	email	58	5
T-7686	2025-12-15 16:18	2025-12-16 23:54	First Line	normal	web form	21	2
T-7687	2025-12-15 16:48	2025-12-16 19:32	First Line	normal	email	11	\N
T-7688	2025-12-15 18:05	2025-12-16 06:04	Night Shift	normal	chat	77	\N
T-7689	2025-12-16 14:51	2025-12-18 08:16	Returns	normal	chat	61	5
T-7690	2025-12-16 16:33	2025-12-19 04:18	Returns	normal	email	133	\N
T-7691	2025-12-16 17:57	2025-12-17 14:09	Open Platform	normal	Partner	123	5
T-7692	2025-12-17 06:31	2025-12-19 05:12	Billing	normal	email	34	2
T-7693	2025-12-17 11:52	2025-12-17 21:49	Night Shift	normal	email	54	2
T-7694	2025-12-17 12:05	2025-12-18 12:20	Open Platform	high	chat	154	2
T-7695	2025-12-17 13:35	2025-12-19 01:05	Returns	normal	phone	128	1
T-7696	2025-12-17 14:56	2025-12-19 01:14	Partner	high	phone	133	\N
T-7697	2025-12-17 15:59	2025-12-20 04:24	Billing	normal	phone	8	1
T-7698	2025-12-17 16:23	2025-12-19 19:50	First Line	normal	phone	10	\N
T-7699	2025-12-17 18:58	2025-12-20 12:43	First Line	normal	phone	17	2
T-7700	2025-12-17 19:04	2025-12-19 12:14	Open Platform	normal	web form	90	\N
T-7701	2025-12-17 21:15	2025-12-20 13:56	First Line	normal	phone	17	2
T-7702	2025-12-18 06:01	2025-12-19 23:00	First Line	normal	email	12	\N
T-7703	2025-12-18 07:53	2025-12-18 18:00	Open Platform	normal	email	93	5
T-7704	2025-12-18 08:39	2025-12-20 13:12	Billing	normal	phone	32	\N
T-7705	2025-12-18 12:18	2025-12-18 16:30	First Line	high	phone	18	2
T-7706	2025-12-18 13:48	2025-12-20 05:57	Billing	normal	Partner	41	\N
T-7707	2025-12-18 18:22	2025-12-19 20:35	Night Shift	high	chat	267	\N
T-7708	2025-12-19 08:06	2025-12-20 05:34	Partner	normal	chat	192	4
T-7709	2025-12-19 09:05	2025-12-21 10:27	Open Platform	normal	Partner	122	1
T-7710	2025-12-19 11:14	2025-12-20 17:00	Open Platform	urgent	chat	133	4
T-7711	2025-12-19 12:30	2025-12-21 09:29	Open Platform	urgent	web form	84	2
T-7712	2025-12-19 15:40	2025-12-20 19:20	Returns	low	email	65	4
T-7713	2025-12-19 16:39	2025-12-22 08:44	Returns	high	email	126	3
T-7714	2025-12-19 16:55	2025-12-20 08:24	Open Platform	low	chat	150	5
T-7715	2025-12-19 17:36	2025-12-22 01:39	Open Platform	normal	phone	69	5
T-7716	2025-12-20 13:24	2025-12-23 01:29	Open Platform	high	web form	118	4
T-7717	2025-12-20 13:40	2025-12-21 00:45	Night Shift	normal	Partner	110	5
T-7718	2025-12-20 15:07	2025-12-23 03:07	Returns	normal	email	97	1
T-7719	2025-12-20 15:20	2025-12-21 20:11	Billing	normal	web form	51	1
T-7720	2025-12-20 18:21	2025-12-23 03:33	Billing	normal	email	29	5
T-7721	2025-12-20 18:35	2025-12-22 22:48	First Line	high	email	25	1
T-7722	2025-12-21 06:07	2025-12-21 22:59	Night Shift	low	email	36	4
T-7723	2025-12-21 09:57	2025-12-23 01:39	First Line	normal	web form	24	4
T-7724	2025-12-21 10:20	2025-12-22 04:01	Open Platform	normal	web form	151	4
T-7725	2025-12-21 17:23	2025-12-24 12:58	Partner	urgent	email	157	\N
T-7726	2025-12-21 21:01	2025-12-24 08:15	First Line	high	email	3	4
T-7727	2025-12-21 21:20	2025-12-23 22:32	Partner	high	email	42	\N
T-7728	2025-12-22 07:55	2025-12-24 08:41	Open Platform	normal	web form	154	\N
T-7729	2025-12-22 13:27	2025-12-24 10:05	Partner	high	web form	148	1
T-7730	2025-12-22 13:39	\N	Partner	normal	email	187	\N
T-7731	2025-12-22 13:44	2025-12-23 05:34	Partner	high	chat	49	\N
T-7732	2025-12-22 16:19	2025-12-23 18:44	Partner	normal	Partner	156	1
T-7733	2025-12-22 17:29	2025-12-25 14:01	Partner	low	email	183	4
T-7734	2025-12-23 11:43	2025-12-24 13:30	Open Platform	urgent	email	30	5
T-7735	2025-12-23 13:19	2025-12-25 04:27	Billing	urgent	phone	81	\N
T-7736	2025-12-23 16:09	2025-12-25 09:17	Returns	normal	Partner	128	5
T-7737	2025-12-23 18:18	2025-12-25 23:30	Night Shift	urgent	email	112	5
T-7738	2025-12-23 19:09	2025-12-24 19:48	Returns	normal	email	12	5
T-7739	2025-12-23 19:49	2025-12-25 03:36	Returns	urgent	web form	13	2
T-7740	2025-12-23 21:33	2025-12-25 13:16	Partner	normal	chat	100	4
T-7741	2025-12-24 09:15	2025-12-26 10:11	Night Shift	low	email	29	1
T-7742	2025-12-24 10:06	2025-12-25 10:24	Night Shift	normal	email	45	3
T-7743	2025-12-24 10:33	2025-12-25 13:25	Returns	normal	phone	109	3
T-7744	2025-12-24 14:28	2025-12-27 06:00	First Line	normal	chat	3	4
T-7745	2025-12-24 17:21	2025-12-26 18:16	Partner	urgent	chat	128	4
T-7746	2025-12-25 06:19	2025-12-25 14:17	Returns	urgent	chat	82	2
T-7747	2025-12-25 12:13	2025-12-28 01:14	First Line	normal	email	14	4
T-7748	2025-12-25 13:24	2025-12-27 23:18	Returns	urgent	email	122	5
T-7749	2025-12-25 14:08	2025-12-28 01:11	Returns	normal	web form	75	4
T-7750	2025-12-25 16:41	2025-12-26 05:47	Partner	urgent	web form	66	5
T-7751	2025-12-25 17:30	2025-12-26 19:34	Open Platform	high	email	14	1
T-7752	2025-12-25 19:58	2025-12-27 23:59	Returns	urgent	Partner	51	3
T-7753	2025-12-25 21:10	2025-12-27 14:17	Billing	high	email	87	2
T-7754	2025-12-26 09:02	2025-12-28 07:23	Partner	normal	chat	153	5
T-7755	2025-12-26 10:02	2025-12-27 05:42	Returns	normal	Partner	77	3
T-7756	2025-12-26 10:43	2025-12-28 14:57	Billing	low	email	14	2
T-7757	2025-12-26 13:04	2025-12-27 15:44	Billing	normal	email	31	1
T-7758	2025-12-26 16:14	2025-12-27 22:48	Open Platform	low	Partner	42	2
T-7759	2025-12-26 16:39	2025-12-28 07:34	Partner	normal	web form	112	4
T-7760	2025-12-26 18:34	2025-12-27 21:19	Night Shift	normal	email	167	2
T-7761	2025-12-26 18:34	2025-12-27 22:02	First Line	low	Partner	22	\N
T-7762	2025-12-26 20:47	2025-12-29 15:47	Partner	low	chat	187	4
T-7763	2025-12-27 07:13	2025-12-29 16:58	Billing	urgent	email	57	5
T-7764	2025-12-27 09:17	2025-12-29 06:51	Billing	urgent	email	78	3
T-7765	2025-12-27 09:27	2025-12-28 02:28	First Line	normal	chat	31	3
T-7766	2025-12-27 09:58	2025-12-29 02:11	Night Shift	normal	web form	225	4
T-7767	2025-12-27 13:46	2025-12-28 20:10	Billing	urgent	email	46	5
T-7768	2025-12-27 18:40	2025-12-28 07:59	Partner	low	Partner	150	3
T-7769	2025-12-27 20:46	2025-12-28 15:36	Partner	normal	email	60	3
T-7770	2025-12-28 12:53	2025-12-28 21:14	Partner	normal	Partner	147	1
T-7771	2025-12-28 15:48	2025-12-30 12:23	First Line	high	Partner	27	4
T-7772	2025-12-28 19:26	2025-12-30 16:32	Partner	normal	chat	99	\N
T-7773	2025-12-28 20:01	2025-12-31 06:29	Returns	high	phone	100	\N
T-7774	2025-12-28 20:14	2025-12-29 09:18	First Line	low	phone	21	2
T-7775	2025-12-29 06:26	2025-12-30 14:39	Returns	normal	Partner	110	4
T-7776	2025-12-29 07:05	2025-12-30 10:50	Billing	urgent	email	35	5
T-7777	2025-12-29 08:57	2025-12-29 10:27	Returns	low	chat	22	2
T-7778	2025-12-29 11:18	2026-01-01 04:22	Billing	low	chat	29	2
T-7779	2025-12-29 11:45	2025-12-31 15:36	Night Shift	high	email	233	2
T-7780	2025-12-29 17:17	2025-12-30 22:48	Open Platform	urgent	email	60	\N
T-7781	2025-12-29 17:21	2026-01-01 02:32	Partner	normal	email	183	\N
T-7782	2025-12-29 19:25	2026-01-01 11:14	Open Platform	high	email	132	\N
T-7783	2025-12-29 20:23	2025-12-30 03:07	First Line	urgent	chat	21	4
T-7784	2025-12-29 20:50	2025-12-31 20:26	Night Shift	urgent	email	211	5
T-7785	2025-12-30 06:02	2026-01-01 03:20	Open Platform	low	Partner	111	\N
T-7786	2025-12-30 06:04	2026-01-01 05:00	Open Platform	urgent	phone	97	4
T-7787	2025-12-30 11:13	2026-01-01 03:04	First Line	normal	web form	4	3
T-7788	2025-12-30 13:11	2025-12-31 15:35	First Line	normal	chat	15	3
T-7789	2025-12-30 14:56	2026-01-02 00:54	First Line	normal	phone	16	\N
T-7790	2025-12-30 15:45	2025-12-31 21:31	Returns	normal	chat	111	4
T-7791	2025-12-30 16:59	2025-12-31 23:41	Returns	urgent	email	89	5
T-7792	2025-12-30 18:00	2025-12-30 19:30	Partner	normal	Partner	73	2
T-7793	2025-12-30 20:40	2026-01-01 11:29	Open Platform	high	web form	86	5
T-7794	2025-12-31 09:07	2026-01-03 02:48	Partner	normal	email	142	4
T-7795	2025-12-31 13:39	2026-01-01 01:08	Open Platform	urgent	phone	101	4
T-7796	2025-12-31 14:23	2026-01-01 04:18	Billing	urgent	email	52	5
T-7797	2025-12-31 15:54	2026-01-03 05:25	Open Platform	urgent	web form	114	5
T-7798	2025-12-31 18:12	2026-01-01 22:54	Open Platform	high	phone	81	3
T-7799	2025-12-31 18:18	2026-01-01 05:08	Night Shift	normal	email	25	3
T-7800	2025-12-31 19:05	2026-01-02 04:50	Returns	high	email	74	\N
T-7801	2026-01-01 07:23	2026-01-03 23:24	Returns	normal	email	87	4
T-7802	2026-01-01 07:33	2026-01-02 02:30	Partner	normal	web form	96	3
T-7803	2026-01-01 09:12	2026-01-03 17:28	First Line	normal	web form	3	3
T-7804	2026-01-01 10:16	2026-01-01 16:17	Open Platform	urgent	web form	115	1
T-7805	2026-01-01 11:05	2026-01-02 02:10	Open Platform	normal	phone	58	\N
T-7806	2026-01-01 12:52	\N	Billing	normal	email	87	\N
T-7807	2026-01-01 14:44	2026-01-02 05:09	Open Platform	low	email	151	\N
T-7808	2026-01-01 15:55	2026-01-03 12:38	Returns	urgent	chat	26	2
T-7809	2026-01-01 18:13	2026-01-03 11:58	Returns	normal	web form	90	4
T-7810	2026-01-01 20:01	2026-01-02 11:42	Billing	normal	Partner	53	\N
T-7811	2026-01-02 09:35	2026-01-03 17:55	First Line	high	email	11	\N
T-7812	2026-01-02 09:38	2026-01-03 13:51	Returns	normal	phone	117	3
T-7813	2026-01-02 11:11	2026-01-03 14:21	Partner	normal	Partner	159	\N
T-7814	2026-01-02 11:55	2026-01-03 22:46	Billing	urgent	email	18	5
T-7815	2026-01-02 14:01	2026-01-04 20:40	Returns	normal	phone	63	1
T-7816	2026-01-02 17:19	2026-01-02 22:29	Night Shift	normal	phone	181	\N
T-7817	2026-01-02 20:55	2026-01-03 08:18	First Line	high	email	20	5
T-7818	2026-01-03 09:09	2026-01-05 03:08	Billing	urgent	Partner	62	4
T-7819	2026-01-03 21:25	2026-01-04 14:53	Returns	normal	email	71	2
T-7820	2026-01-03 21:37	2026-01-05 09:27	Night Shift	urgent	email	244	5
T-7821	2026-01-04 09:38	2026-01-06 13:38	Returns	urgent	web form	114	\N
T-7822	2026-01-04 10:22	2026-01-07 01:50	First Line	normal	email	15	5
T-7823	2026-01-04 11:13	2026-01-07 01:17	Night Shift	normal	phone	256	5
T-7824	2026-01-04 14:12	2026-01-05 21:46	Partner	high	Partner	72	1
T-7825	2026-01-04 16:44	2026-01-07 01:14	Billing	urgent	email	39	\N
T-7826	2026-01-04 17:48	2026-01-05 07:33	First Line	normal	email	34	\N
T-7827	2026-01-04 18:07	2026-01-05 13:35	First Line	urgent	email	30	4
T-7828	2026-01-05 07:00	2026-01-06 23:09	Partner	low	email	168	4
T-7829	2026-01-05 08:12	2026-01-05 15:38	Night Shift	low	email	198	2
T-7830	2026-01-05 08:41	2026-01-06 03:34	Open Platform	high	chat	178	4
T-7831	2026-01-05 12:11	2026-01-07 08:53	Returns	normal	chat	61	5
T-7832	2026-01-05 12:17	2026-01-07 03:33	Partner	normal	email	191	\N
T-7833	2026-01-05 13:18	2026-01-06 18:26	Open Platform	urgent	chat	31	5
T-7834	2026-01-05 14:17	2026-01-07 08:36	First Line	normal	phone	27	5
T-7835	2026-01-05 20:29	2026-01-07 01:30	Night Shift	low	web form	176	5
T-7836	2026-01-05 21:11	2026-01-07 15:57	Night Shift	normal	email	45	1
T-7837	2026-01-06 07:18	2026-01-09 02:03	Returns	normal	phone	73	5
T-7838	2026-01-06 07:24	2026-01-07 15:37	First Line	low	Partner	17	5
T-7839	2026-01-06 15:13	2026-01-07 14:55	Night Shift	normal	email	214	3
T-7840	2026-01-06 16:22	2026-01-06 19:50	Billing	normal	web form	19	4
T-7841	2026-01-06 17:01	2026-01-07 14:07	First Line	normal	chat	20	4
T-7842	2026-01-06 18:19	2026-01-09 04:09	Open Platform	high	phone	95	4
T-7843	2026-01-06 19:45	2026-01-08 10:37	Partner	high	Partner	198	5
T-7844	2026-01-07 06:02	2026-01-08 05:10	Night Shift	low	chat	39	1
T-7845	2026-01-07 07:09	2026-01-08 06:15	Open Platform	low	Partner	119	5
T-7846	2026-01-07 09:34	2026-01-09 18:21	First Line	high	email	2	1
T-7847	2026-01-07 10:11	2026-01-09 14:41	Partner	normal	email	102	4
T-7848	2026-01-07 10:12	2026-01-10 04:32	First Line	normal	phone	10	\N
T-7849	2026-01-07 11:49	2026-01-10 02:49	Billing	high	phone	44	5
T-7850	2026-01-07 14:57	2026-01-09 22:14	Partner	normal	web form	205	4
T-7851	2026-01-07 15:22	2026-01-08 02:16	First Line	urgent	phone	17	\N
T-7852	2026-01-07 16:15	2026-01-08 10:44	Billing	normal	email	37	5
T-7853	2026-01-07 17:50	2026-01-09 08:57	Night Shift	normal	phone	177	1
T-7854	2026-01-07 19:33	2026-01-08 03:09	Partner	low	web form	130	2
T-7855	2026-01-08 15:29	2026-01-10 22:56	Night Shift	urgent	email	255	1
T-7856	2026-01-08 20:05	2026-01-09 18:22	Night Shift	normal	Partner	147	3
T-7857	2026-01-08 20:14	2026-01-10 11:13	Returns	urgent	chat	70	1
T-7858	2026-01-08 20:51	2026-01-09 03:18	Returns	high	email	32	5
T-7859	2026-01-08 21:38	2026-01-11 03:49	First Line	normal	chat	35	3
T-7860	2026-01-09 10:36	2026-01-10 01:24	First Line	urgent	Partner	9	\N
T-7861	2026-01-09 10:42	2026-01-10 03:53	First Line	high	web form	34	5
T-7862	2026-01-09 11:02	\N	First Line	high	web form	13	\N
T-7863	2026-01-09 18:52	2026-01-10 05:01	Partner	normal	phone	141	5
T-7864	2026-01-10 07:55	2026-01-11 15:46	First Line	high	Partner	30	5
T-7865	2026-01-10 08:07	2026-01-12 11:25	First Line	normal	web form	35	1
T-7866	2026-01-10 09:06	2026-01-10 10:15	Open Platform	high	phone	34	3
T-7867	2026-01-10 11:45	2026-01-12 14:28	Billing	normal	email	33	\N
T-7868	2026-01-10 14:48	2026-01-12 13:48	Night Shift	normal	Partner	240	4
T-7869	2026-01-10 16:53	2026-01-12 01:31	Partner	normal	Partner	37	2
T-7870	2026-01-10 17:08	2026-01-11 11:44	Night Shift	normal	email	76	\N
T-7871	2026-01-10 18:14	2026-01-11 13:30	First Line	normal	web form	17	4
T-7872	2026-01-10 18:52	2026-01-11 21:46	Night Shift	normal	phone	258	2
T-7873	2026-01-10 20:04	2026-01-12 21:30	Night Shift	normal	phone	219	\N
T-7874	2026-01-11 07:51	2026-01-11 14:21	Open Platform	urgent	phone	100	5
T-7875	2026-01-11 08:29	2026-01-11 22:45	Billing	normal	email	47	5
T-7876	2026-01-11 11:51	2026-01-11 19:42	Night Shift	normal	email	215	3
T-7877	2026-01-11 12:51	2026-01-13 03:49	Returns	normal	web form	31	2
T-7878	2026-01-11 13:34	2026-01-12 01:34	First Line	normal	phone	16	5
T-7879	2026-01-11 18:19	2026-01-13 18:04	Open Platform	normal	phone	80	3
T-7880	2026-01-12 11:20	2026-01-12 18:32	Night Shift	urgent	email	162	4
T-7881	2026-01-12 11:49	2026-01-14 21:51	Billing	urgent	chat	48	1
T-7882	2026-01-12 14:36	2026-01-13 05:48	Night Shift	low	email	163	\N
T-7883	2026-01-12 14:43	2026-01-13 04:44	Partner	normal	phone	52	4
T-7884	2026-01-12 15:41	2026-01-13 22:43	Open Platform	normal	email	133	5
T-7885	2026-01-12 17:00	2026-01-13 20:06	First Line	low	email	15	2
T-7886	2026-01-12 17:23	2026-01-13 18:26	First Line	urgent	email	17	\N
T-7887	2026-01-12 18:51	2026-01-13 17:13	Open Platform	normal	email	101	5
T-7888	2026-01-12 18:59	2026-01-14 01:20	Partner	low	chat	141	1
T-7889	2026-01-13 06:56	2026-01-13 18:40	Open Platform	low	email	21	5
T-7890	2026-01-13 10:39	2026-01-14 08:55	Open Platform	low	phone	99	5
T-7891	2026-01-13 18:05	2026-01-16 03:24	Billing	normal	phone	73	\N
T-7892	2026-01-13 20:59	2026-01-14 12:01	Partner	normal	phone	198	5
T-7893	2026-01-13 21:35	2026-01-15 07:20	Returns	normal	Partner	27	3
T-7894	2026-01-14 07:10	2026-01-14 23:53	Night Shift	normal	chat	243	1
T-7895	2026-01-14 07:33	2026-01-16 22:47	Open Platform	normal	phone	27	1
T-7896	2026-01-14 10:00	2026-01-16 00:57	Partner	urgent	phone	120	\N
T-7897	2026-01-14 14:39	2026-01-16 03:38	Night Shift	normal	phone	183	\N
T-7898	2026-01-14 14:56	2026-01-17 06:54	Open Platform	normal	Partner	16	5
T-7899	2026-01-14 15:19	2026-01-16 18:15	Billing	high	web form	9	2
T-7900	2026-01-14 16:25	2026-01-16 22:55	Billing	high	Partner	30	\N
T-7901	2026-01-14 19:09	2026-01-15 11:21	Returns	normal	phone	121	\N
T-7902	2026-01-15 06:28	2026-01-16 22:11	First Line	high	phone	25	\N
T-7903	2026-01-15 07:43	2026-01-16 10:45	Partner	high	Partner	168	5
T-7904	2026-01-15 09:36	2026-01-17 07:37	Returns	urgent	Partner	68	\N
T-7905	2026-01-15 11:17	2026-01-17 23:59	Open Platform	low	email	59	4
T-7906	2026-01-15 11:52	2026-01-17 04:38	Billing	urgent	Partner	82	5
T-7907	2026-01-15 13:18	2026-01-15 23:10	Open Platform	normal	email	145	4
T-7908	2026-01-15 13:40	2026-01-17 03:38	Billing	high	email	29	1
T-7909	2026-01-15 19:58	2026-01-16 21:15	Billing	low	Partner	12	5
T-7910	2026-01-15 21:11	2026-01-16 13:55	Returns	normal	web form	117	4
T-7911	2026-01-16 06:55	2026-01-19 03:45	Night Shift	normal	email	224	3
T-7912	2026-01-16 07:27	\N	Partner	normal	email	153	\N
T-7913	2026-01-16 17:21	2026-01-18 22:03	Open Platform	normal	chat	120	1
T-7914	2026-01-16 18:39	2026-01-19 09:55	Partner	normal	chat	38	\N
T-7915	2026-01-17 06:43	2026-01-18 18:09	Night Shift	normal	chat	248	4
T-7916	2026-01-17 09:53	2026-01-18 18:13	Open Platform	normal	email	57	1
T-7917	2026-01-17 16:30	2026-01-18 07:49	Billing	low	web form	45	4
T-7918	2026-01-17 17:47	2026-01-18 00:31	Open Platform	normal	email	22	\N
T-7919	2026-01-17 19:45	2026-01-18 15:08	Night Shift	normal	email	229	2
T-7920	2026-01-17 20:42	2026-01-18 07:23	Partner	urgent	chat	151	1
T-7921	2026-01-18 08:45	2026-01-21 01:11	Partner	normal	phone	31	1
T-7922	2026-01-18 09:31	2026-01-21 02:34	Returns	low	Partner	112	4
T-7923	2026-01-18 16:39	2026-01-20 12:36	First Line	normal	email	31	5
T-7924	2026-01-18 17:10	2026-01-21 08:50	Partner	low	email	93	\N
T-7925	2026-01-19 08:57	2026-01-21 01:45	Open Platform	high	chat	63	5
T-7926	2026-01-19 09:51	2026-01-20 20:43	Night Shift	high	web form	254	1
T-7927	2026-01-19 10:06	2026-01-20 00:40	Billing	normal	chat	75	4
T-7928	2026-01-20 09:58	2026-01-21 22:32	Partner	low	web form	127	5
T-7929	2026-01-20 13:17	2026-01-22 13:12	Night Shift	normal	phone	227	3
T-7930	2026-01-20 14:25	2026-01-20 19:29	Billing	normal	chat	28	3
T-7931	2026-01-20 15:34	2026-01-21 23:26	Open Platform	normal	chat	31	\N
T-7932	2026-01-20 16:53	2026-01-22 10:33	Partner	high	email	99	2
T-7933	2026-01-20 20:55	2026-01-22 06:45	Open Platform	urgent	chat	177	4
T-7934	2026-01-21 06:53	2026-01-23 00:21	Night Shift	high	Partner	174	5
T-7935	2026-01-21 09:13	2026-01-22 10:02	Open Platform	normal	Partner	76	4
T-7936	2026-01-21 15:32	2026-01-23 19:26	Open Platform	normal	web form	94	4
T-7937	2026-01-22 06:23	2026-01-23 17:53	First Line	high	chat	34	5
T-7938	2026-01-22 09:24	2026-01-23 05:05	Returns	high	email	72	\N
T-7939	2026-01-22 10:27	2026-01-22 18:41	Partner	urgent	chat	89	4
T-7940	2026-01-22 10:51	2026-01-22 15:06	Partner	normal	chat	189	5
T-7941	2026-01-22 11:01	2026-01-23 16:50	First Line	normal	web form	19	5
T-7942	2026-01-22 11:39	2026-01-24 23:43	Night Shift	normal	web form	197	1
T-7943	2026-01-22 17:04	2026-01-23 07:08	First Line	high	Partner	27	\N
T-7944	2026-01-22 17:35	2026-01-24 14:50	First Line	normal	chat	24	3
T-7945	2026-01-22 20:09	2026-01-24 19:35	Partner	urgent	email	157	1
T-7946	2026-01-22 21:27	2026-01-24 14:39	Night Shift	normal	phone	150	\N
T-7947	2026-01-23 07:14	2026-01-23 12:06	Night Shift	normal	email	74	2
T-7948	2026-01-23 13:19	2026-01-24 01:04	Partner	normal	email	160	1
T-7949	2026-01-23 13:54	2026-01-23 23:55	Billing	normal	Partner	54	\N
T-7950	2026-01-23 15:20	2026-01-24 23:49	First Line	normal	email	25	5
T-7951	2026-01-23 19:47	2026-01-25 13:07	Returns	normal	email	100	4
T-7952	2026-01-23 20:38	2026-01-24 12:10	Returns	normal	email	85	5
T-7953	2026-01-23 21:40	2026-01-24 17:45	Partner	low	web form	50	\N
T-7954	2026-01-24 10:21	2026-01-25 09:07	Returns	urgent	Partner	131	\N
T-7955	2026-01-24 11:39	2026-01-27 08:44	Open Platform	high	email	170	2
T-7956	2026-01-24 16:57	2026-01-25 17:01	Open Platform	normal	email	115	5
T-7957	2026-01-25 08:46	2026-01-28 03:33	Partner	urgent	phone	165	1
T-7958	2026-01-25 09:09	2026-01-25 23:30	First Line	normal	email	21	\N
T-7959	2026-01-25 11:25	2026-01-26 06:34	Returns	low	email	122	5
T-7960	2026-01-25 15:37	2026-01-25 22:20	Returns	normal	web form	121	3
T-7961	2026-01-25 18:49	2026-01-25 22:13	First Line	high	chat	33	\N
T-7962	2026-01-26 08:03	2026-01-28 14:57	Returns	normal	email	27	5
T-7963	2026-01-26 08:14	2026-01-28 13:04	Partner	normal	email	78	4
T-7964	2026-01-26 08:28	2026-01-27 01:10	First Line	normal	phone	27	4
T-7965	2026-01-26 11:37	2026-01-29 04:39	Billing	normal	email	89	\N
T-7966	2026-01-26 12:00	2026-01-28 18:20	Billing	normal	phone	72	\N
T-7967	2026-01-26 17:48	2026-01-28 04:08	First Line	normal	email	14	\N
T-7968	2026-01-26 18:56	2026-01-27 08:57	First Line	normal	Partner	8	\N
T-7969	2026-01-27 06:23	2026-01-27 22:03	Partner	urgent	email	178	5
T-7970	2026-01-27 06:31	2026-01-27 16:00	Billing	low	email	6	1
T-7971	2026-01-27 11:42	2026-01-29 17:07	Partner	urgent	phone	178	5
T-7972	2026-01-27 13:24	2026-01-28 00:34	Billing	high	email	57	3
T-7973	2026-01-27 13:24	2026-01-28 18:40	Open Platform	normal	web form	35	4
T-7974	2026-01-27 14:05	2026-01-29 04:44	Night Shift	normal	email	122	5
T-7975	2026-01-27 15:11	2026-01-28 06:04	Returns	normal	phone	130	2
T-7976	2026-01-27 18:57	2026-01-28 03:00	First Line	low	phone	22	3
T-7977	2026-01-27 19:51	2026-01-30 06:39	Partner	normal	web form	168	4
T-7978	2026-01-27 21:16	2026-01-28 23:46	Billing	urgent	web form	40	4
T-7979	2026-01-28 07:34	2026-01-29 05:57	First Line	normal	chat	25	3
T-7980	2026-01-28 10:26	2026-01-30 19:29	Billing	normal	phone	30	5
T-7981	2026-01-28 11:56	2026-01-29 23:42	Night Shift	normal	email	83	2
T-7982	2026-01-28 14:42	2026-01-29 19:31	Billing	urgent	chat	67	2
T-7983	2026-01-28 16:20	2026-01-29 17:55	Open Platform	normal	chat	129	1
T-7984	2026-01-28 16:58	2026-01-29 06:57	First Line	normal	email	9	4
T-7985	2026-01-28 17:36	2026-01-29 01:52	Partner	high	web form	144	5
T-7986	2026-01-28 17:41	2026-01-30 16:46	Partner	urgent	email	26	\N
T-7987	2026-01-28 18:48	2026-01-29 06:35	Billing	low	email	38	3
T-7988	2026-01-28 18:54	2026-01-30 12:12	Open Platform	high	email	145	5
T-7989	2026-01-29 09:32	2026-02-01 04:11	Open Platform	normal	email	42	4
T-7990	2026-01-29 13:04	2026-02-01 06:47	First Line	high	phone	26	3
T-7991	2026-01-29 18:12	2026-01-30 08:46	First Line	high	phone	4	3
T-7992	2026-01-29 19:40	2026-01-30 22:45	Night Shift	normal	Partner	122	2
T-7993	2026-01-29 19:52	2026-02-01 12:01	Open Platform	high	web form	103	1
T-7994	2026-01-30 07:45	2026-01-31 00:04	Billing	low	email	72	4
T-7995	2026-01-30 10:09	2026-02-01 01:17	Returns	high	phone	45	\N
T-7996	2026-01-30 11:53	2026-02-01 20:12	Partner	normal	phone	178	5
T-7997	2026-01-31 06:14	2026-02-02 10:15	Returns	normal	phone	78	5
T-7998	2026-01-31 10:12	2026-02-01 00:28	Night Shift	normal	email	37	4
T-7999	2026-01-31 20:50	2026-02-03 13:10	Partner	normal	Partner	90	\N
T-8000	2026-02-01 06:42	2026-02-01 17:12	Partner	high	email	50	5
T-8001	2026-02-01 08:30	2026-02-01 11:49	Open Platform	normal	web form	107	3
T-8002	2026-02-01 08:33	2026-02-02 04:24	Open Platform	urgent	email	135	1
T-8003	2026-02-01 10:18	2026-02-02 12:04	Night Shift	normal	phone	204	\N
T-8004	2026-02-01 12:05	2026-02-04 04:52	First Line	urgent	email	25	\N
T-8005	2026-02-01 16:59	2026-02-03 23:18	Open Platform	high	email	15	\N
T-8006	2026-02-01 17:12	2026-02-02 01:26	Open Platform	low	web form	59	4
T-8007	2026-02-01 17:21	2026-02-02 13:03	Night Shift	high	email	241	2
T-8008	2026-02-01 18:06	2026-02-03 10:36	Open Platform	high	Partner	132	4
T-8009	2026-02-02 06:46	2026-02-04 04:08	First Line	high	chat	14	\N
T-8010	2026-02-02 07:53	2026-02-02 16:00	Returns	normal	phone	53	1
T-8011	2026-02-02 10:08	2026-02-05 02:00	Night Shift	normal	Partner	81	\N
T-8012	2026-02-02 10:21	2026-02-03 10:04	Billing	normal	Partner	70	5
T-8013	2026-02-02 10:56	2026-02-03 18:32	Night Shift	low	web form	99	5
T-8014	2026-02-02 13:16	2026-02-03 00:33	Open Platform	normal	email	19	\N
T-8015	2026-02-02 16:28	2026-02-03 02:00	Partner	normal	email	199	\N
T-8016	2026-02-02 17:42	2026-02-05 03:26	Open Platform	normal	email	16	1
T-8017	2026-02-02 19:03	2026-02-05 12:38	First Line	normal	chat	35	2
T-8018	2026-02-02 19:20	2026-02-02 21:51	First Line	urgent	chat	12	\N
T-8019	2026-02-02 20:38	2026-02-03 12:00	First Line	normal	phone	31	3
T-8020	2026-02-03 10:31	2026-02-06 04:03	Billing	urgent	phone	73	4
T-8021	2026-02-03 13:54	2026-02-06 04:12	First Line	normal	email	10	5
T-8022	2026-02-03 15:49	2026-02-05 08:10	Billing	normal	Partner	57	4
T-8023	2026-02-03 18:12	2026-02-04 17:44	Night Shift	low	email	267	\N
T-8024	2026-02-03 20:50	2026-02-04 03:25	Returns	low	phone	69	2
T-8025	2026-02-03 21:33	2026-02-06 03:51	Open Platform	normal	email	114	4
T-8026	2026-02-04 11:53	2026-02-06 19:41	Open Platform	high	chat	12	1
T-8027	2026-02-04 13:55	2026-02-06 00:04	Open Platform	normal	web form	28	2
T-8028	2026-02-04 15:47	2026-02-06 06:18	Open Platform	urgent	web form	134	\N
T-8029	2026-02-04 17:18	2026-02-05 20:03	Night Shift	high	email	119	5
T-8030	2026-02-04 17:46	\N	Billing	urgent	web form	75	\N
T-8031	2026-02-05 08:54	2026-02-07 14:24	Partner	normal	chat	111	2
T-8032	2026-02-05 09:25	2026-02-08 00:28	Partner	high	email	208	3
T-8033	2026-02-05 15:27	2026-02-08 09:07	Open Platform	urgent	email	39	\N
T-8034	2026-02-05 16:23	2026-02-07 20:01	Returns	normal	phone	123	\N
T-8035	2026-02-05 17:45	2026-02-06 22:52	Returns	urgent	phone	13	\N
T-8036	2026-02-05 17:54	2026-02-06 04:47	Night Shift	urgent	chat	236	5
T-8037	2026-02-06 07:30	2026-02-06 20:53	First Line	high	web form	20	5
T-8038	2026-02-06 08:02	2026-02-07 09:24	Night Shift	low	Partner	183	\N
T-8039	2026-02-06 11:53	2026-02-06 14:49	Open Platform	normal	email	132	4
T-8040	2026-02-07 10:00	2026-02-07 18:59	Partner	normal	phone	152	2
T-8041	2026-02-07 11:18	2026-02-07 23:25	Partner	low	Partner	124	\N
T-8042	2026-02-07 12:50	2026-02-08 03:04	Open Platform	normal	email	163	1
T-8043	2026-02-07 13:09	2026-02-09 17:10	Partner	normal	phone	198	2
T-8044	2026-02-07 14:14	2026-02-08 04:55	Partner	normal	web form	98	\N
T-8045	2026-02-07 14:21	2026-02-07 22:15	Partner	normal	chat	213	1
T-8046	2026-02-07 14:34	2026-02-08 13:34	Billing	normal	phone	39	2
T-8047	2026-02-07 21:04	2026-02-09 17:28	Returns	urgent	phone	47	4
T-8048	2026-02-08 09:21	2026-02-08 11:09	Partner	urgent	phone	18	1
T-8049	2026-02-08 09:30	2026-02-09 07:55	Open Platform	normal	phone	141	5
T-8050	2026-02-08 11:54	2026-02-10 04:08	Partner	urgent	chat	77	5
T-8051	2026-02-08 15:45	2026-02-09 22:05	First Line	high	web form	26	4
T-8052	2026-02-08 17:52	2026-02-11 03:53	Open Platform	normal	web form	179	3
T-8053	2026-02-08 19:58	2026-02-09 11:00	Returns	urgent	Partner	32	2
T-8054	2026-02-09 08:51	2026-02-11 23:08	Partner	high	Partner	72	4
T-8055	2026-02-09 15:18	2026-02-11 00:49	Night Shift	normal	email	168	1
T-8056	2026-02-09 16:23	2026-02-11 01:57	Partner	normal	email	80	4
T-8057	2026-02-09 17:39	2026-02-09 21:31	Returns	normal	email	64	\N
T-8058	2026-02-10 07:43	2026-02-12 05:31	Partner	urgent	email	174	5
T-8059	2026-02-10 09:34	2026-02-10 15:09	Night Shift	low	email	187	2
T-8060	2026-02-10 12:46	2026-02-10 18:42	Open Platform	urgent	phone	42	\N
T-8061	2026-02-10 13:21	2026-02-11 08:34	First Line	normal	email	35	\N
T-8062	2026-02-10 20:01	2026-02-11 14:21	Billing	normal	Partner	63	1
T-8063	2026-02-10 20:09	2026-02-12 13:06	Night Shift	normal	chat	194	\N
T-8064	2026-02-10 20:51	2026-02-12 18:00	Open Platform	urgent	web form	20	4
T-8065	2026-02-11 06:28	2026-02-11 22:27	Billing	high	phone	21	4
T-8066	2026-02-11 07:19	2026-02-13 09:46	Open Platform	low	phone	121	2
T-8067	2026-02-11 10:19	2026-02-12 00:47	Night Shift	normal	phone	183	4
T-8068	2026-02-11 21:12	2026-02-12 16:57	Night Shift	normal	chat	103	5
T-8069	2026-02-12 06:10	2026-02-13 01:27	Billing	low	Partner	6	4
T-8070	2026-02-12 06:19	2026-02-14 20:24	Returns	high	Partner	25	\N
T-8071	2026-02-12 09:22	\N	Night Shift	low	Partner	260	\N
T-8072	2026-02-12 11:48	2026-02-13 16:26	Night Shift	normal	web form	116	2
T-8073	2026-02-12 12:08	2026-02-13 00:14	Returns	high	chat	51	4
T-8074	2026-02-12 12:16	2026-02-14 22:22	Partner	low	Partner	224	5
T-8075	2026-02-12 13:53	2026-02-14 16:07	Night Shift	normal	email	145	\N
T-8076	2026-02-12 21:03	2026-02-13 06:52	Night Shift	urgent	Partner	109	3
T-8077	2026-02-12 21:21	2026-02-13 15:19	Returns	high	email	59	2
T-8078	2026-02-13 07:51	2026-02-15 05:35	Partner	urgent	phone	102	5
T-8079	2026-02-13 08:36	2026-02-13 16:20	Partner	normal	email	204	3
T-8080	2026-02-13 09:34	2026-02-15 05:05	Returns	urgent	web form	102	5
T-8081	2026-02-13 09:43	2026-02-14 22:55	Night Shift	high	email	241	3
T-8082	2026-02-13 11:03	2026-02-14 16:54	First Line	normal	chat	20	4
T-8083	2026-02-13 13:37	2026-02-15 16:08	Partner	normal	chat	128	2
T-8084	2026-02-13 13:44	2026-02-14 09:48	Night Shift	low	email	38	4
T-8085	2026-02-13 14:31	2026-02-14 17:54	Billing	urgent	web form	30	\N
T-8086	2026-02-13 17:48	2026-02-16 07:07	First Line	low	Partner	24	\N
T-8087	2026-02-13 18:05	2026-02-14 09:55	Partner	low	email	183	1
T-8088	2026-02-13 21:33	2026-02-15 12:10	Open Platform	low	email	62	\N
T-8089	2026-02-14 06:17	2026-02-16 16:38	Night Shift	normal	chat	157	5
T-8090	2026-02-14 06:46	2026-02-14 13:13	Partner	normal	Partner	182	\N
T-8091	2026-02-14 11:20	2026-02-17 00:32	First Line	normal	email	25	2
T-8092	2026-02-14 14:43	2026-02-16 07:34	First Line	high	email	32	5
T-8093	2026-02-14 18:16	2026-02-17 03:54	Billing	normal	email	18	3
T-8094	2026-02-14 18:46	2026-02-16 10:14	Returns	high	email	58	4
T-8095	2026-02-14 21:13	2026-02-15 03:42	First Line	urgent	Partner	25	3
T-8096	2026-02-15 06:32	2026-02-16 03:11	Open Platform	normal	email	80	5
T-8097	2026-02-15 07:03	2026-02-17 03:45	First Line	low	chat	8	5
T-8098	2026-02-15 08:01	2026-02-15 14:24	Returns	normal	email	101	3
T-8099	2026-02-15 17:47	2026-02-17 21:13	Partner	normal	phone	204	5
T-8100	2026-02-15 18:10	2026-02-17 01:10	Partner	urgent	email	161	1
T-8101	2026-02-15 19:43	2026-02-16 00:04	First Line	normal	web form	30	\N
T-8102	2026-02-15 19:44	2026-02-17 14:09	First Line	high	chat	13	1
T-8103	2026-02-15 19:56	2026-02-17 03:58	Partner	normal	chat	109	4
T-8104	2026-02-15 20:06	2026-02-18 06:53	Open Platform	low	Partner	18	5
T-8105	2026-02-15 21:10	2026-02-18 06:57	Open Platform	normal	phone	153	3
T-8106	2026-02-15 21:31	2026-02-16 11:33	Partner	urgent	web form	39	\N
T-8107	2026-02-16 07:11	2026-02-16 11:52	First Line	high	phone	26	4
T-8108	2026-02-16 10:18	2026-02-16 15:47	Night Shift	normal	web form	140	2
T-8109	2026-02-16 11:41	2026-02-18 06:39	Open Platform	urgent	chat	121	2
T-8110	2026-02-16 13:07	2026-02-18 00:49	Returns	normal	chat	126	4
T-8111	2026-02-16 13:15	2026-02-17 22:20	Partner	normal	web form	203	5
T-8112	2026-02-16 13:17	2026-02-19 07:41	Open Platform	normal	web form	72	5
T-8113	2026-02-16 16:19	2026-02-17 16:03	Night Shift	normal	email	113	2
T-8114	2026-02-17 06:01	2026-02-19 13:24	Billing	normal	web form	79	\N
T-8115	2026-02-17 06:08	2026-02-18 21:18	Partner	normal	Partner	212	\N
T-8116	2026-02-17 09:39	2026-02-17 23:50	Billing	normal	email	36	4
T-8117	2026-02-17 10:11	2026-02-17 13:08	Billing	normal	phone	83	\N
T-8118	2026-02-17 11:21	2026-02-19 13:29	Partner	urgent	email	60	5
T-8119	2026-02-17 13:47	2026-02-20 07:48	Billing	normal	web form	57	4
T-8120	2026-02-18 06:32	2026-02-21 00:28	Open Platform	urgent	phone	58	4
T-8121	2026-02-18 10:00	2026-02-20 14:49	Returns	normal	phone	34	4
T-8122	2026-02-18 16:23	2026-02-20 07:36	First Line	normal	web form	12	5
T-8123	2026-02-19 10:26	2026-02-21 16:20	First Line	normal	email	10	\N
T-8124	2026-02-19 14:11	2026-02-19 18:12	Returns	urgent	phone	23	4
T-8125	2026-02-19 16:30	2026-02-20 20:36	Night Shift	normal	email	22	\N
T-8126	2026-02-19 17:00	2026-02-20 17:34	Night Shift	normal	chat	181	1
T-8127	2026-02-19 17:33	2026-02-20 17:50	First Line	normal	phone	15	\N
T-8128	2026-02-19 17:44	2026-02-21 18:18	First Line	normal	chat	17	5
T-8129	2026-02-19 21:12	2026-02-21 17:17	Billing	normal	email	90	\N
T-8130	2026-02-20 17:43	2026-02-23 00:37	Open Platform	high	email	97	1
T-8131	2026-02-20 19:05	2026-02-22 15:37	Partner	normal	phone	177	4
T-8132	2026-02-20 20:15	2026-02-21 15:04	First Line	normal	web form	27	2
T-8133	2026-02-21 06:20	2026-02-21 23:54	Partner	high	email	24	4
T-8134	2026-02-21 07:40	2026-02-21 22:06	First Line	low	chat	18	\N
T-8135	2026-02-21 16:49	2026-02-22 02:24	Night Shift	normal	Partner	216	3
T-8136	2026-02-21 19:24	2026-02-24 10:06	Night Shift	high	email	70	\N
T-8137	2026-02-21 19:40	2026-02-24 08:00	Billing	normal	phone	82	\N
T-8138	2026-02-22 06:06	2026-02-23 10:50	First Line	high	web form	19	4
T-8139	2026-02-22 15:44	2026-02-23 10:34	Night Shift	normal	Partner	188	\N
T-8140	2026-02-22 19:45	2026-02-23 11:26	Open Platform	normal	web form	78	4
T-8141	2026-02-22 20:09	2026-02-23 23:04	Returns	normal	phone	130	4
T-8142	2026-02-22 20:41	2026-02-25 16:48	Partner	low	email	195	4
T-8143	2026-02-23 06:01	2026-02-24 03:42	Open Platform	normal	phone	139	2
T-8144	2026-02-23 06:12	2026-02-24 23:37	Returns	low	Partner	63	\N
T-8145	2026-02-23 07:25	2026-02-25 03:49	Partner	normal	chat	26	\N
T-8146	2026-02-23 09:41	2026-02-24 18:53	Billing	normal	chat	52	4
T-8147	2026-02-23 12:15	2026-02-24 13:41	First Line	urgent	Partner	4	5
T-8148	2026-02-23 14:44	2026-02-25 09:49	First Line	normal	web form	14	5
T-8149	2026-02-23 15:26	2026-02-25 16:28	Night Shift	normal	phone	124	2
T-8150	2026-02-23 16:05	2026-02-25 09:33	First Line	high	web form	20	4
T-8151	2026-02-23 16:27	2026-02-26 00:08	Open Platform	normal	web form	101	3
T-8152	2026-02-23 21:11	2026-02-25 13:26	Partner	high	phone	186	3
T-8153	2026-02-24 15:55	2026-02-26 11:00	Night Shift	high	chat	239	1
T-8154	2026-02-24 16:04	2026-02-27 04:23	Open Platform	low	email	157	4
T-8155	2026-02-24 19:44	2026-02-26 19:12	Partner	normal	chat	135	2
T-8156	2026-02-24 20:08	2026-02-24 21:16	Billing	urgent	Partner	57	\N
T-8157	2026-02-24 20:47	2026-02-25 14:11	Night Shift	normal	phone	155	5
T-8158	2026-02-24 21:33	2026-02-27 06:45	Returns	normal	chat	43	3
T-8159	2026-02-25 10:09	2026-02-26 03:10	Billing	low	email	14	4
T-8160	2026-02-25 13:03	2026-02-28 06:07	Billing	high	email	60	3
T-8161	2026-02-25 16:38	2026-02-26 03:51	Billing	low	email	39	1
T-8162	2026-02-25 16:53	2026-02-25 21:24	Night Shift	normal	email	74	\N
T-8163	2026-02-25 17:12	2026-02-25 23:33	Returns	normal	email	108	1
T-8164	2026-02-25 20:54	2026-02-26 03:51	First Line	low	chat	30	\N
T-8165	2026-02-26 06:42	2026-02-26 19:53	Billing	high	email	66	3
T-8166	2026-02-26 09:51	2026-02-26 21:46	Returns	normal	web form	47	5
T-8167	2026-02-26 12:03	2026-02-27 15:10	Partner	normal	web form	144	5
T-8168	2026-02-26 13:08	2026-02-27 16:37	Returns	low	email	54	4
T-8169	2026-02-26 16:58	2026-02-27 13:19	Open Platform	low	Partner	169	5
T-8170	2026-02-26 17:43	2026-02-27 13:45	Returns	normal	email	13	1
T-8171	2026-02-26 17:52	2026-02-28 10:08	First Line	high	Partner	32	\N
T-8172	2026-02-27 08:18	2026-02-28 16:32	Open Platform	normal	web form	76	1
T-8173	2026-02-27 15:28	2026-02-28 22:32	Night Shift	high	email	233	5
T-8174	2026-02-27 17:42	2026-02-28 10:28	Billing	normal	web form	21	\N
T-8175	2026-02-27 18:19	2026-02-28 22:43	Returns	low	phone	98	5
T-8176	2026-02-28 06:22	2026-03-01 10:51	Billing	normal	email	22	5
T-8177	2026-02-28 09:29	2026-02-28 21:50	Billing	normal	phone	32	5
T-8178	2026-02-28 14:40	2026-03-01 02:31	First Line	high	web form	23	5
T-8179	2026-02-28 16:04	2026-03-01 09:25	Partner	urgent	chat	104	\N
T-8180	2026-02-28 21:01	2026-03-01 12:43	Billing	low	email	14	5
T-8181	2026-02-28 21:40	2026-03-01 17:52	Partner	low	phone	22	4
T-8182	2026-04-01 08:01	2026-04-03 23:19	Night Shift	normal	Partner	27	2
T-8183	2026-04-01 13:49	2026-04-03 04:47	Returns	high	Partner	119	1
T-8184	2026-04-01 14:29	2026-04-04 02:33	Open Platform	normal	email	45	4
T-8185	2026-04-02 06:31	2026-04-04 10:33	Open Platform	low	web form	84	3
T-8186	2026-04-02 12:09	2026-04-03 17:04	Partner	high	phone	129	4
T-8187	2026-04-02 12:50	2026-04-05 04:24	Partner	low	web form	93	5
T-8188	2026-04-02 13:32	2026-04-04 06:33	Night Shift	normal	web form	44	5
T-8189	2026-04-02 14:24	2026-04-05 05:20	Returns	normal	email	9	3
T-8190	2026-04-02 15:36	2026-04-05 12:08	Night Shift	normal	web form	119	\N
T-8191	2026-04-02 19:16	2026-04-04 15:48	First Line	urgent	email	12	\N
T-8192	2026-04-02 20:13	2026-04-03 00:25	Returns	high	phone	51	1
T-8193	2026-04-02 20:59	2026-04-05 06:09	Billing	normal	Partner	28	5
T-8194	2026-04-03 08:02	2026-04-03 20:03	First Line	low	web form	6	\N
T-8195	2026-04-03 08:17	2026-04-04 16:16	First Line	normal	chat	18	4
T-8196	2026-04-03 09:45	2026-04-05 22:13	First Line	normal	chat	21	\N
T-8197	2026-04-03 11:48	2026-04-03 14:10	Open Platform	urgent	phone	27	\N
T-8198	2026-04-03 12:12	2026-04-03 17:29	Night Shift	normal	chat	166	\N
T-8199	2026-04-03 14:01	2026-04-03 20:50	Open Platform	normal	web form	30	1
T-8200	2026-04-03 18:32	2026-04-04 09:44	Returns	urgent	email	108	2
T-8201	2026-04-04 10:36	2026-04-07 05:27	Partner	urgent	phone	90	4
T-8202	2026-04-04 12:54	2026-04-06 13:41	Billing	normal	email	18	4
T-8203	2026-04-04 14:05	2026-04-05 02:05	Billing	urgent	web form	20	4
T-8204	2026-04-04 18:31	2026-04-05 10:36	First Line	urgent	phone	26	2
T-8205	2026-04-04 19:15	2026-04-07 06:47	Billing	normal	phone	61	4
T-8206	2026-04-04 20:46	2026-04-06 03:46	Open Platform	urgent	web form	82	\N
T-8207	2026-04-05 07:07	2026-04-06 23:05	Night Shift	urgent	chat	153	\N
T-8208	2026-04-05 13:58	2026-04-08 08:16	First Line	urgent	email	4	\N
T-8209	2026-04-05 14:59	2026-04-06 12:08	Open Platform	normal	Partner	31	3
T-8210	2026-04-05 17:49	2026-04-07 15:01	First Line	high	chat	16	\N
T-8211	2026-04-05 21:09	2026-04-07 16:49	Billing	normal	email	64	\N
T-8212	2026-04-05 21:16	2026-04-08 02:27	Partner	normal	phone	21	5
T-8213	2026-04-06 07:05	2026-04-06 16:52	First Line	normal	Partner	20	1
T-8214	2026-04-06 07:06	2026-04-08 11:47	Open Platform	normal	email	34	4
T-8215	2026-04-06 07:49	2026-04-07 07:28	Night Shift	normal	phone	252	3
T-8216	2026-04-06 08:44	2026-04-08 19:55	First Line	urgent	phone	5	1
T-8217	2026-04-06 09:33	2026-04-07 11:56	Billing	urgent	email	9	\N
T-8218	2026-04-06 10:27	2026-04-07 03:59	Billing	high	email	12	4
T-8219	2026-04-06 13:26	2026-04-08 01:15	Partner	normal	Partner	22	1
T-8220	2026-04-06 16:20	2026-04-09 10:33	Returns	normal	chat	69	3
T-8221	2026-04-06 16:29	2026-04-08 12:06	Partner	normal	web form	58	1
T-8222	2026-04-06 18:35	2026-04-07 19:22	First Line	urgent	email	15	3
T-8223	2026-04-06 21:33	2026-04-09 13:39	Partner	urgent	phone	199	1
T-8224	2026-04-07 06:39	2026-04-08 07:04	Billing	normal	web form	78	\N
T-8225	2026-04-07 10:50	2026-04-08 04:44	Returns	urgent	email	9	5
T-8226	2026-04-07 13:47	2026-04-08 03:30	Night Shift	high	Partner	65	3
T-8227	2026-04-08 07:56	2026-04-10 11:35	First Line	normal	web form	33	2
T-8228	2026-04-08 09:38	2026-04-10 00:34	Billing	high	web form	56	5
T-8229	2026-04-08 10:06	2026-04-08 17:40	Night Shift	high	web form	243	\N
T-8230	2026-04-08 10:15	2026-04-09 01:28	Partner	low	web form	87	5
T-8231	2026-04-08 11:12	2026-04-08 17:58	Returns	normal	email	71	4
T-8232	2026-04-08 13:29	2026-04-09 22:07	Returns	urgent	web form	126	2
T-8233	2026-04-08 13:52	2026-04-10 09:59	First Line	normal	chat	6	5
T-8234	2026-04-09 08:22	2026-04-11 00:49	Returns	urgent	email	96	\N
T-8235	2026-04-09 09:54	2026-04-10 00:11	Returns	high	phone	96	4
T-8236	2026-04-09 10:03	2026-04-10 17:33	Night Shift	normal	Partner	152	4
T-8237	2026-04-09 12:15	2026-04-10 02:49	Partner	high	web form	90	5
T-8238	2026-04-09 14:11	2026-04-10 20:13	Billing	normal	chat	10	5
T-8239	2026-04-09 16:48	2026-04-09 21:42	Night Shift	normal	Partner	22	2
T-8240	2026-04-09 18:53	2026-04-12 07:02	Billing	urgent	phone	33	2
T-8241	2026-04-09 20:13	2026-04-11 09:59	First Line	urgent	web form	19	\N
T-8242	2026-04-10 11:09	2026-04-10 23:06	First Line	low	web form	33	5
T-8243	2026-04-10 14:30	2026-04-10 23:39	Open Platform	urgent	email	136	4
T-8244	2026-04-10 15:05	2026-04-12 23:26	First Line	urgent	chat	12	\N
T-8245	2026-04-10 15:47	2026-04-12 10:48	Returns	urgent	Partner	110	5
T-8246	2026-04-10 18:08	2026-04-10 20:55	Open Platform	normal	email	116	4
T-8247	2026-04-11 07:21	2026-04-12 01:08	Night Shift	normal	email	162	2
T-8248	2026-04-11 07:25	2026-04-12 19:53	Billing	high	email	25	4
T-8249	2026-04-11 09:54	2026-04-13 20:19	First Line	high	chat	3	5
T-8250	2026-04-11 14:12	2026-04-11 17:13	Billing	urgent	Partner	17	\N
T-8251	2026-04-11 14:42	2026-04-11 23:27	Night Shift	high	Partner	46	4
T-8252	2026-04-11 16:11	2026-04-12 13:05	Billing	high	email	8	4
T-8253	2026-04-11 20:38	2026-04-14 07:20	First Line	high	email	35	3
T-8254	2026-04-12 08:23	2026-04-12 21:43	Billing	urgent	Partner	77	\N
T-8255	2026-04-12 09:55	2026-04-14 21:48	First Line	low	email	19	5
T-8256	2026-04-12 12:03	2026-04-14 23:52	Open Platform	urgent	email	104	5
T-8257	2026-04-12 15:19	2026-04-13 03:58	First Line	normal	email	17	\N
T-8258	2026-04-13 07:57	2026-04-14 16:39	Returns	urgent	email	90	3
T-8259	2026-04-13 11:43	2026-04-14 13:32	First Line	low	chat	19	5
T-8260	2026-04-13 12:04	2026-04-15 09:19	Billing	low	phone	67	2
T-8261	2026-04-13 12:05	2026-04-14 08:04	Returns	urgent	phone	117	5
T-8262	2026-04-13 20:11	2026-04-16 01:10	First Line	high	Partner	9	4
T-8263	2026-04-13 20:50	2026-04-14 23:05	First Line	urgent	phone	13	2
T-8264	2026-04-14 10:02	2026-04-15 06:54	First Line	normal	email	18	4
T-8265	2026-04-14 10:22	2026-04-14 20:08	First Line	normal	email	18	1
T-8266	2026-04-14 10:43	2026-04-16 07:13	Night Shift	normal	Partner	245	5
T-8267	2026-04-14 11:21	2026-04-16 08:47	Returns	normal	email	53	5
T-8268	2026-04-14 14:27	2026-04-15 20:59	Returns	normal	Partner	76	3
T-8269	2026-04-14 16:19	2026-04-15 20:13	Open Platform	urgent	email	170	2
T-8270	2026-04-14 17:26	2026-04-17 02:01	Open Platform	normal	email	67	5
T-8271	2026-04-14 18:07	2026-04-16 10:09	First Line	high	email	12	4
T-8272	2026-04-14 20:05	2026-04-15 10:19	Returns	normal	Partner	37	4
T-8273	2026-04-15 12:51	2026-04-15 16:51	First Line	normal	email	29	4
T-8274	2026-04-15 15:03	2026-04-17 04:07	First Line	normal	phone	5	2
T-8275	2026-04-15 15:38	2026-04-18 08:48	Open Platform	normal	phone	104	5
T-8276	2026-04-15 20:34	2026-04-18 15:07	Returns	urgent	phone	57	5
T-8277	2026-04-16 06:20	2026-04-17 09:09	First Line	urgent	web form	3	3
T-8278	2026-04-16 06:47	2026-04-18 20:54	Partner	normal	email	198	\N
T-8279	2026-04-16 08:16	2026-04-18 12:32	Returns	normal	email	110	\N
T-8280	2026-04-16 08:44	2026-04-18 16:01	Partner	low	web form	204	3
T-8281	2026-04-16 10:55	2026-04-18 00:57	First Line	low	Partner	23	5
T-8282	2026-04-16 11:29	2026-04-16 14:46	Open Platform	high	phone	149	5
T-8283	2026-04-16 11:33	2026-04-18 07:26	Returns	high	email	41	3
T-8284	2026-04-16 12:54	2026-04-18 22:10	Returns	normal	email	111	5
T-8285	2026-04-16 14:58	2026-04-18 22:46	Returns	normal	email	63	\N
T-8286	2026-04-16 15:51	2026-04-18 21:54	Returns	normal	web form	90	2
T-8287	2026-04-16 20:28	2026-04-17 06:55	Returns	normal	email	46	2
T-8288	2026-04-17 06:20	2026-04-18 06:02	First Line	high	chat	32	1
T-8289	2026-04-17 06:25	2026-04-18 17:25	Returns	urgent	email	94	5
T-8290	2026-04-17 08:19	2026-04-18 05:27	Open Platform	high	Partner	34	5
T-8291	2026-04-17 10:29	2026-04-19 05:37	Partner	normal	email	176	3
T-8292	2026-04-17 13:43	\N	First Line	high	email	14	\N
T-8293	2026-04-17 16:17	2026-04-19 06:52	Partner	urgent	phone	25	2
T-8294	2026-04-17 17:35	2026-04-18 09:45	Billing	high	email	83	3
T-8295	2026-04-17 17:48	2026-04-19 01:03	Open Platform	high	Partner	86	1
T-8296	2026-04-17 18:01	2026-04-19 15:30	Night Shift	low	web form	102	4
T-8297	2026-04-17 19:10	2026-04-18 08:51	Open Platform	urgent	Partner	128	3
T-8298	2026-04-18 08:07	2026-04-18 21:56	First Line	low	chat	9	4
T-8299	2026-04-18 11:51	2026-04-21 03:18	Partner	low	phone	73	\N
T-8300	2026-04-18 16:29	2026-04-21 10:17	Returns	high	email	83	\N
T-8301	2026-04-18 20:52	2026-04-21 12:27	First Line	urgent	Partner	4	\N
T-8302	2026-04-19 06:07	2026-04-21 19:26	Open Platform	normal	phone	94	4
T-8303	2026-04-19 06:29	2026-04-21 03:36	Open Platform	normal	Partner	67	5
T-8304	2026-04-19 06:39	2026-04-21 03:33	First Line	normal	phone	9	5
T-8305	2026-04-19 07:32	2026-04-21 13:26	First Line	high	web form	10	4
T-8306	2026-04-19 11:04	2026-04-20 13:04	Returns	high	chat	21	\N
T-8307	2026-04-19 17:02	2026-04-19 22:06	Open Platform	normal	web form	18	\N
T-8308	2026-04-19 21:06	2026-04-22 07:07	Partner	urgent	Partner	172	1
T-8309	2026-04-20 08:10	2026-04-21 10:28	Returns	normal	phone	57	5
T-8310	2026-04-20 13:53	2026-04-21 14:57	Night Shift	normal	Partner	181	3
T-8311	2026-04-20 15:39	2026-04-20 20:26	Partner	urgent	Partner	29	5
T-8312	2026-04-20 20:29	2026-04-22 19:18	Partner	urgent	web form	146	\N
T-8313	2026-04-21 06:48	2026-04-21 21:04	Night Shift	normal	Partner	190	3
T-8314	2026-04-21 09:31	2026-04-22 23:23	Returns	high	email	112	\N
T-8315	2026-04-21 16:11	2026-04-21 18:05	Night Shift	normal	email	42	4
T-8316	2026-04-21 16:43	2026-04-23 04:44	Night Shift	normal	chat	182	\N
T-8317	2026-04-21 17:47	2026-04-21 20:13	Partner	normal	web form	71	1
T-8318	2026-04-21 18:11	2026-04-23 08:47	Night Shift	normal	chat	74	4
T-8319	2026-04-21 19:02	2026-04-23 22:20	Billing	normal	email	35	4
T-8320	2026-04-21 20:29	2026-04-23 04:42	First Line	normal	chat	3	5
T-8321	2026-04-22 07:28	2026-04-24 06:10	Open Platform	urgent	chat	46	4
T-8322	2026-04-22 07:58	2026-04-24 11:00	Open Platform	low	email	61	5
T-8323	2026-04-22 09:27	2026-04-23 09:33	Partner	low	Partner	102	\N
T-8324	2026-04-22 10:56	2026-04-23 07:43	Billing	urgent	web form	70	2
T-8325	2026-04-22 12:06	2026-04-23 08:52	Night Shift	high	web form	81	3
T-8326	2026-04-22 14:21	2026-04-23 16:15	Night Shift	low	chat	122	2
T-8327	2026-04-22 16:24	2026-04-23 13:26	Returns	normal	email	23	\N
T-8328	2026-04-22 16:43	2026-04-25 08:19	Billing	normal	email	57	\N
T-8329	2026-04-22 17:17	2026-04-24 09:13	Returns	urgent	chat	23	1
T-8330	2026-04-22 21:06	2026-04-23 00:19	First Line	normal	phone	31	\N
T-8331	2026-04-23 14:58	2026-04-24 23:39	Open Platform	high	Partner	139	5
T-8332	2026-04-23 18:04	2026-04-25 09:52	Open Platform	normal	email	126	2
T-8333	2026-04-23 19:34	2026-04-26 02:03	Billing	urgent	web form	45	5
T-8334	2026-04-24 08:13	2026-04-26 19:49	First Line	high	email	34	4
T-8335	2026-04-24 08:44	2026-04-27 04:38	Partner	urgent	Partner	150	5
T-8336	2026-04-24 09:21	2026-04-27 05:13	Partner	high	Partner	72	5
T-8337	2026-04-24 09:31	2026-04-27 02:59	Returns	normal	Partner	128	\N
T-8338	2026-04-24 14:16	2026-04-27 06:24	Night Shift	urgent	email	63	\N
T-8339	2026-04-24 15:20	2026-04-25 17:25	Partner	normal	phone	171	\N
T-8340	2026-04-24 17:00	2026-04-26 20:34	Billing	normal	web form	14	2
T-8341	2026-04-24 17:52	2026-04-25 12:26	Billing	low	web form	77	4
T-8342	2026-04-24 19:11	2026-04-25 13:02	Returns	normal	email	69	4
T-8343	2026-04-24 19:20	2026-04-27 06:10	Billing	normal	Partner	81	4
T-8344	2026-04-24 20:40	2026-04-25 03:11	Partner	normal	web form	15	5
T-8345	2026-04-25 07:15	2026-04-25 20:55	Returns	normal	email	18	5
T-8346	2026-04-25 09:00	2026-04-27 00:59	First Line	normal	Partner	15	4
T-8347	2026-04-25 15:44	2026-04-27 08:36	Billing	high	chat	66	2
T-8348	2026-04-25 19:12	2026-04-27 11:52	Partner	low	email	81	\N
T-8349	2026-04-25 19:55	2026-04-27 11:32	Open Platform	normal	chat	88	2
T-8350	2026-04-25 20:28	2026-04-26 16:37	Partner	high	phone	183	\N
T-8351	2026-04-25 21:02	2026-04-26 03:34	Returns	urgent	Partner	25	4
T-8352	2026-04-26 06:11	2026-04-28 02:00	Open Platform	low	Partner	129	2
T-8353	2026-04-26 09:09	2026-04-27 08:33	First Line	high	chat	7	\N
T-8354	2026-04-26 11:32	2026-04-27 05:31	Billing	normal	email	84	4
T-8355	2026-04-26 12:04	\N	First Line	high	Partner	12	\N
T-8356	2026-04-26 12:49	2026-04-27 01:26	Open Platform	normal	email	94	4
T-8357	2026-04-26 13:18	2026-04-27 09:09	First Line	low	email	22	\N
T-8358	2026-04-26 13:57	2026-04-28 22:59	Billing	normal	chat	25	5
T-8359	2026-04-26 16:46	2026-04-27 17:56	Billing	high	chat	9	3
T-8360	2026-04-26 19:39	2026-04-29 09:29	Returns	high	web form	47	2
T-8361	2026-04-27 06:53	2026-04-27 11:45	Open Platform	high	phone	123	5
T-8362	2026-04-27 10:38	2026-04-29 20:24	Returns	normal	email	62	4
T-8363	2026-04-27 17:18	2026-04-28 01:32	Night Shift	normal	chat	19	\N
T-8364	2026-04-28 11:39	2026-04-28 13:16	Billing	normal	email	50	4
T-8365	2026-04-28 15:24	2026-04-30 12:01	Open Platform	normal	phone	96	\N
T-8366	2026-04-28 17:28	2026-04-29 21:08	First Line	normal	phone	26	\N
T-8367	2026-04-28 18:14	2026-04-30 20:16	Billing	normal	email	65	5
T-8368	2026-04-28 21:00	2026-04-29 20:38	Billing	normal	email	9	\N
T-8369	2026-04-29 06:04	2026-04-30 10:00	Billing	low	chat	35	\N
T-8370	2026-04-29 06:50	2026-04-29 22:12	Partner	high	email	202	\N
T-8371	2026-04-29 07:56	2026-05-02 00:43	Open Platform	low	chat	12	\N
T-8372	2026-04-29 09:35	2026-05-01 05:47	Night Shift	urgent	phone	53	4
T-8373	2026-04-29 16:41	2026-04-29 20:53	Night Shift	low	email	216	\N
T-8374	2026-04-29 17:35	2026-04-30 16:16	Night Shift	high	phone	214	3
T-8375	2026-04-29 19:38	2026-04-30 16:12	Night Shift	normal	web form	100	\N
T-8376	2026-04-29 21:28	2026-05-02 03:36	First Line	high	email	9	1
T-8377	2026-04-30 09:07	2026-05-02 23:04	Returns	low	phone	73	4
T-8378	2026-04-30 09:22	2026-05-02 09:01	First Line	high	phone	20	2
T-8379	2026-04-30 15:01	2026-05-01 11:28	Night Shift	high	email	143	3
T-8380	2026-04-30 15:31	2026-05-02 00:01	First Line	normal	email	33	1
T-8381	2026-04-30 15:49	2026-05-02 12:37	Returns	low	email	38	\N
T-8382	2026-04-30 17:25	2026-05-02 06:07	Returns	urgent	phone	112	5
T-8383	2026-04-30 21:25	2026-05-01 01:56	First Line	normal	web form	29	5
T-8384	2026-05-01 13:03	2026-05-02 11:36	Partner	low	web form	20	1
T-8385	2026-05-01 13:56	2026-05-04 08:25	Open Platform	normal	chat	162	1
T-8386	2026-05-01 14:35	2026-05-03 03:35	Partner	normal	phone	118	5
T-8387	2026-05-01 15:13	2026-05-02 12:06	First Line	normal	chat	26	3
T-8388	2026-05-01 15:33	2026-05-02 03:59	Returns	normal	email	31	4
T-8389	2026-05-01 17:12	2026-05-02 04:01	Night Shift	urgent	chat	156	2
T-8390	2026-05-01 17:12	2026-05-02 08:58	First Line	normal	chat	32	5
T-8391	2026-05-01 18:12	2026-05-03 14:55	Night Shift	normal	email	226	\N
T-8392	2026-05-01 18:48	2026-05-02 14:56	Partner	normal	email	60	2
T-8393	2026-05-01 19:01	2026-05-01 20:47	Partner	low	email	33	5
T-8394	2026-05-02 07:05	2026-05-02 11:21	Night Shift	normal	email	241	\N
T-8395	2026-05-02 11:13	2026-05-02 15:10	Billing	low	email	87	\N
T-8396	2026-05-02 11:15	2026-05-02 23:06	First Line	normal	Partner	31	4
T-8397	2026-05-02 11:23	2026-05-04 10:18	Open Platform	low	email	18	5
T-8398	2026-05-02 15:52	\N	Billing	normal	Partner	47	\N
T-8399	2026-05-02 18:59	2026-05-04 09:15	Open Platform	normal	Partner	78	\N
T-8400	2026-05-03 06:09	2026-05-04 20:37	Partner	urgent	phone	125	4
T-8401	2026-05-03 07:50	2026-05-06 02:42	Returns	low	Partner	110	\N
T-8402	2026-05-03 08:26	2026-05-03 22:11	Night Shift	high	web form	35	\N
T-8403	2026-05-03 09:04	2026-05-03 13:32	Night Shift	normal	email	146	4
T-8404	2026-05-03 10:52	2026-05-05 01:59	Returns	urgent	email	23	5
T-8405	2026-05-03 12:23	2026-05-04 13:31	Night Shift	normal	chat	70	3
T-8406	2026-05-03 15:12	2026-05-06 13:20	Night Shift	urgent	email	211	4
T-8407	2026-05-04 07:50	2026-05-06 18:06	Partner	low	web form	162	5
T-8408	2026-05-04 08:28	2026-05-04 16:22	Night Shift	urgent	phone	208	\N
T-8409	2026-05-04 12:00	2026-05-04 14:55	Night Shift	normal	email	72	3
T-8410	2026-05-04 17:48	2026-05-04 23:12	Returns	high	email	86	1
T-8411	2026-05-04 18:08	2026-05-05 10:52	Returns	normal	email	13	5
T-8412	2026-05-04 18:42	2026-05-06 21:39	Returns	normal	email	13	3
T-8413	2026-05-04 19:26	2026-05-06 00:48	Billing	normal	web form	36	1
T-8414	2026-05-04 20:31	2026-05-06 17:29	Night Shift	high	Partner	57	5
T-8415	2026-05-05 06:04	2026-05-07 20:56	First Line	normal	web form	30	5
T-8416	2026-05-05 09:28	2026-05-08 01:54	Returns	normal	email	50	\N
T-8417	2026-05-05 09:34	2026-05-06 00:53	Partner	normal	Partner	85	5
T-8418	2026-05-05 10:17	2026-05-07 11:33	Night Shift	high	phone	107	4
T-8419	2026-05-05 15:59	2026-05-07 01:07	Open Platform	normal	email	79	1
T-8420	2026-05-05 19:59	2026-05-06 03:02	Billing	normal	phone	10	\N
T-8421	2026-05-06 07:07	2026-05-07 09:53	First Line	normal	chat	30	2
T-8422	2026-05-06 09:29	2026-05-06 17:16	Night Shift	high	email	140	\N
T-8423	2026-05-06 10:07	2026-05-08 13:43	Partner	normal	email	127	\N
T-8424	2026-05-06 14:15	2026-05-07 00:54	Billing	low	phone	6	5
T-8425	2026-05-06 19:02	2026-05-09 00:22	First Line	normal	phone	28	4
T-8426	2026-05-06 20:14	2026-05-07 01:47	First Line	normal	Partner	20	4
T-8427	2026-05-07 06:31	2026-05-09 15:02	Open Platform	normal	phone	58	5
T-8428	2026-05-07 12:23	2026-05-08 02:18	Returns	normal	web form	111	3
T-8429	2026-05-07 17:12	2026-05-08 22:46	Night Shift	normal	email	215	4
T-8430	2026-05-07 20:12	2026-05-07 22:10	Returns	urgent	email	52	\N
T-8431	2026-05-07 20:34	2026-05-09 11:24	Returns	urgent	email	29	4
T-8432	2026-05-08 06:02	2026-05-09 02:42	Open Platform	normal	email	43	5
T-8433	2026-05-08 06:39	2026-05-10 15:16	Returns	urgent	email	110	\N
T-8434	2026-05-08 08:16	2026-05-09 18:05	Night Shift	urgent	Partner	117	2
T-8435	2026-05-08 15:14	2026-05-09 03:02	Billing	high	chat	80	\N
T-8436	2026-05-08 17:35	2026-05-10 02:02	Partner	low	email	26	\N
T-8437	2026-05-08 21:07	2026-05-11 05:47	Partner	high	Partner	129	2
T-8438	2026-05-09 06:48	2026-05-10 08:54	Night Shift	low	phone	19	2
T-8439	2026-05-09 06:49	2026-05-09 20:17	Night Shift	normal	email	83	5
T-8440	2026-05-09 07:33	2026-05-10 21:47	Open Platform	normal	email	168	\N
T-8441	2026-05-09 08:24	2026-05-11 04:36	Night Shift	normal	phone	168	\N
T-8442	2026-05-09 13:10	2026-05-12 02:53	Billing	normal	phone	75	1
T-8443	2026-05-09 13:51	2026-05-11 01:26	Partner	normal	email	132	4
T-8444	2026-05-09 15:19	2026-05-10 07:02	Billing	low	phone	84	\N
T-8445	2026-05-09 18:44	2026-05-11 15:13	Billing	normal	phone	80	5
T-8446	2026-05-09 20:38	2026-05-10 07:08	Partner	urgent	email	160	4
T-8447	2026-05-10 07:51	2026-05-10 17:20	Partner	high	email	204	4
T-8448	2026-05-10 08:15	2026-05-12 09:44	Billing	high	Partner	69	4
T-8449	2026-05-10 08:16	2026-05-11 17:18	First Line	normal	chat	14	1
T-8450	2026-05-10 09:30	2026-05-11 03:45	Billing	normal	phone	37	5
T-8451	2026-05-10 10:36	2026-05-11 22:27	Returns	normal	Partner	94	3
T-8452	2026-05-10 14:27	2026-05-10 18:46	Returns	urgent	chat	78	5
T-8453	2026-05-10 14:36	2026-05-12 02:34	Open Platform	high	Partner	168	4
T-8454	2026-05-10 15:05	2026-05-13 11:02	Partner	normal	Partner	171	5
T-8455	2026-05-10 18:31	2026-05-12 23:10	First Line	normal	email	10	4
T-8456	2026-05-11 14:16	2026-05-12 04:47	Billing	normal	phone	37	3
T-8457	2026-05-11 15:07	2026-05-13 13:36	Billing	low	email	40	5
T-8458	2026-05-11 17:33	2026-05-11 20:58	First Line	normal	Partner	32	\N
T-8459	2026-05-11 17:38	2026-05-14 10:53	Night Shift	urgent	phone	18	5
T-8460	2026-05-12 07:04	2026-05-14 08:25	Billing	normal	chat	33	\N
T-8461	2026-05-12 07:43	2026-05-13 12:01	Billing	normal	phone	10	\N
T-8462	2026-05-12 09:14	2026-05-13 04:19	Billing	high	email	65	5
T-8463	2026-05-12 11:58	2026-05-13 08:47	First Line	low	email	10	4
T-8464	2026-05-12 17:09	2026-05-14 16:53	Billing	normal	phone	9	\N
T-8465	2026-05-12 19:42	2026-05-13 21:02	Night Shift	low	Partner	90	\N
T-8466	2026-05-12 20:53	2026-05-13 23:56	Billing	low	phone	44	4
T-8467	2026-05-13 06:47	2026-05-14 18:21	Open Platform	normal	Partner	19	5
T-8468	2026-05-13 12:21	2026-05-16 02:47	Returns	high	phone	45	5
T-8469	2026-05-13 13:36	2026-05-15 07:30	Open Platform	normal	phone	53	5
T-8470	2026-05-13 13:52	2026-05-16 05:49	Night Shift	urgent	chat	140	3
T-8471	2026-05-13 19:07	2026-05-16 09:48	Night Shift	urgent	Partner	210	3
T-8472	2026-05-13 19:07	2026-05-15 14:13	Partner	normal	web form	75	3
T-8473	2026-05-13 19:36	2026-05-15 08:59	Returns	normal	phone	122	4
T-8474	2026-05-13 20:15	2026-05-16 10:50	Night Shift	normal	email	223	2
T-8475	2026-05-14 06:05	2026-05-16 11:57	Open Platform	normal	phone	160	3
T-8476	2026-05-14 09:59	2026-05-15 00:38	Open Platform	high	chat	67	3
T-8477	2026-05-14 12:04	2026-05-16 08:19	Billing	low	web form	27	2
T-8478	2026-05-14 12:46	2026-05-15 00:50	Returns	normal	email	130	5
T-8479	2026-05-14 17:31	2026-05-16 22:12	Open Platform	high	email	159	4
T-8480	2026-05-15 08:22	2026-05-17 09:59	Night Shift	high	Partner	93	3
T-8481	2026-05-15 08:24	2026-05-17 12:47	Billing	high	email	35	1
T-8482	2026-05-15 10:52	2026-05-17 21:43	Night Shift	normal	email	221	\N
T-8483	2026-05-15 12:20	2026-05-18 10:01	Night Shift	urgent	chat	207	\N
T-8484	2026-05-15 15:43	2026-05-18 11:13	Returns	urgent	phone	89	5
T-8485	2026-05-15 17:50	2026-05-15 22:50	Partner	normal	phone	159	5
T-8486	2026-05-15 19:04	2026-05-17 18:10	Open Platform	urgent	phone	176	3
T-8487	2026-05-16 06:23	2026-05-17 22:34	Partner	urgent	phone	75	5
T-8488	2026-05-16 06:34	2026-05-17 05:34	Open Platform	low	phone	55	4
T-8489	2026-05-16 09:42	2026-05-19 02:58	Open Platform	normal	email	107	1
T-8490	2026-05-16 12:11	2026-05-19 02:34	Billing	low	phone	12	3
T-8491	2026-05-16 13:27	2026-05-16 14:50	Returns	normal	email	51	5
T-8492	2026-05-16 14:50	2026-05-18 17:26	Returns	urgent	web form	120	3
T-8493	2026-05-16 17:51	2026-05-18 20:59	Night Shift	normal	email	179	\N
T-8494	2026-05-16 18:14	2026-05-19 03:12	Partner	low	email	194	5
T-8495	2026-05-16 19:11	2026-05-16 22:57	Open Platform	high	web form	154	2
T-8496	2026-05-17 07:25	2026-05-17 15:59	Open Platform	low	email	169	\N
T-8497	2026-05-17 11:44	2026-05-17 23:03	Partner	low	chat	205	5
T-8498	2026-05-17 11:49	2026-05-19 17:48	Billing	normal	Partner	6	5
T-8499	2026-05-17 12:58	2026-05-18 15:07	Returns	low	web form	22	1
T-8500	2026-05-18 06:03	2026-05-20 02:29	Partner	low	email	102	4
T-8501	2026-05-18 07:27	2026-05-20 15:54	Open Platform	urgent	phone	168	\N
T-8502	2026-05-18 13:39	2026-05-19 05:52	Billing	low	Partner	75	4
T-8503	2026-05-18 14:30	2026-05-20 12:52	Billing	low	phone	23	\N
T-8504	2026-05-18 17:13	2026-05-20 03:01	Partner	normal	Partner	86	4
T-8505	2026-05-18 19:15	2026-05-20 08:42	Billing	normal	email	25	5
T-8506	2026-05-18 19:43	2026-05-19 12:07	Open Platform	low	chat	89	5
T-8507	2026-05-19 08:08	2026-05-20 21:08	Billing	normal	email	41	5
T-8508	2026-05-19 08:19	2026-05-22 02:47	Billing	urgent	email	48	5
T-8509	2026-05-19 09:56	2026-05-21 10:51	Open Platform	normal	email	84	\N
T-8510	2026-05-19 12:03	2026-05-21 20:40	Partner	normal	phone	103	\N
T-8511	2026-05-19 15:11	2026-05-22 07:29	First Line	normal	Partner	34	\N
T-8512	2026-05-19 15:39	2026-05-22 03:34	Returns	normal	web form	81	3
T-8513	2026-05-19 17:45	\N	First Line	normal	phone	11	\N
T-8514	2026-05-20 07:38	2026-05-21 06:17	First Line	normal	Partner	24	4
T-8515	2026-05-20 10:23	2026-05-21 04:55	First Line	normal	phone	20	\N
T-8516	2026-05-20 14:59	2026-05-22 16:38	Billing	urgent	email	26	5
T-8517	2026-05-20 15:01	2026-05-21 01:43	Billing	normal	web form	55	3
T-8518	2026-05-20 19:19	2026-05-22 22:56	Open Platform	high	email	138	5
T-8519	2026-05-20 20:12	2026-05-21 20:18	First Line	low	email	27	\N
T-8520	2026-05-21 06:49	2026-05-22 10:30	Night Shift	low	web form	180	4
T-8521	2026-05-21 06:58	2026-05-22 20:17	Returns	normal	chat	75	\N
T-8522	2026-05-21 08:38	2026-05-23 04:13	Partner	urgent	web form	198	5
T-8523	2026-05-21 17:09	2026-05-23 06:32	First Line	low	chat	5	5
T-8524	2026-05-22 07:29	2026-05-23 06:04	Partner	high	email	160	4
T-8525	2026-05-22 07:51	2026-05-25 06:05	Night Shift	normal	web form	218	\N
T-8526	2026-05-22 14:11	2026-05-23 17:22	First Line	normal	web form	34	5
T-8527	2026-05-22 14:13	2026-05-25 05:27	Open Platform	normal	web form	69	1
T-8528	2026-05-22 16:23	2026-05-23 16:40	Open Platform	normal	web form	60	\N
T-8529	2026-05-22 18:17	2026-05-23 13:44	Partner	normal	email	119	2
T-8530	2026-05-22 18:24	2026-05-25 03:07	Open Platform	normal	email	60	5
T-8531	2026-05-22 19:03	2026-05-24 03:23	Billing	normal	Partner	80	5
T-8532	2026-05-23 07:11	2026-05-25 03:49	Billing	normal	chat	84	3
T-8533	2026-05-23 09:14	2026-05-26 05:37	Night Shift	normal	phone	129	\N
T-8534	2026-05-23 18:39	2026-05-25 14:21	Open Platform	high	Partner	95	3
T-8535	2026-05-24 06:34	2026-05-24 22:43	Open Platform	urgent	email	172	5
T-8536	2026-05-24 06:52	2026-05-25 06:48	Night Shift	normal	email	200	1
T-8537	2026-05-24 07:12	2026-05-27 00:33	First Line	normal	email	5	\N
T-8538	2026-05-24 10:11	2026-05-26 14:28	Open Platform	urgent	email	115	1
T-8539	2026-05-24 14:18	2026-05-25 09:53	Billing	normal	email	75	4
T-8540	2026-05-24 16:00	2026-05-27 00:27	Billing	high	email	39	2
T-8541	2026-05-24 17:17	2026-05-25 12:03	Billing	high	Partner	57	\N
T-8542	2026-05-24 17:25	2026-05-25 09:13	Returns	normal	phone	61	3
T-8543	2026-05-24 18:15	2026-05-25 18:00	First Line	high	email	16	\N
T-8544	2026-05-24 18:16	2026-05-27 02:05	First Line	normal	chat	8	5
T-8545	2026-05-25 11:57	\N	Partner	normal	email	215	\N
T-8546	2026-05-25 13:51	2026-05-27 20:18	Billing	normal	web form	39	3
T-8547	2026-05-25 14:41	2026-05-26 11:55	Returns	high	phone	131	4
T-8548	2026-05-26 06:00	2026-05-26 19:29	Returns	low	email	98	2
T-8549	2026-05-26 09:23	2026-05-28 12:31	First Line	normal	chat	30	4
T-8550	2026-05-26 10:04	2026-05-28 01:13	Returns	normal	email	73	\N
T-8551	2026-05-26 10:24	2026-05-27 16:45	Billing	normal	email	13	5
T-8552	2026-05-26 13:05	2026-05-29 02:01	Partner	high	Partner	39	\N
T-8553	2026-05-26 15:04	2026-05-27 16:39	Billing	normal	chat	31	2
T-8554	2026-05-26 18:19	2026-05-27 06:16	Billing	urgent	phone	42	5
T-8555	2026-05-26 19:12	2026-05-27 08:21	Partner	high	Partner	188	1
T-8556	2026-05-27 07:34	2026-05-29 00:15	Billing	urgent	email	12	4
T-8557	2026-05-27 10:36	2026-05-27 19:52	Partner	normal	email	69	\N
T-8558	2026-05-27 10:48	2026-05-28 23:47	Night Shift	normal	email	213	2
T-8559	2026-05-27 12:59	2026-05-30 02:38	Open Platform	normal	email	57	\N
T-8560	2026-05-27 13:12	2026-05-28 01:26	Open Platform	normal	phone	100	\N
T-8561	2026-05-27 14:50	2026-05-30 06:11	Night Shift	urgent	phone	183	4
T-8562	2026-05-27 16:05	2026-05-28 06:59	First Line	urgent	email	9	4
T-8563	2026-05-27 16:35	2026-05-28 21:52	Billing	normal	web form	51	\N
T-8564	2026-05-27 18:30	2026-05-29 16:34	Night Shift	normal	phone	182	5
T-8565	2026-05-27 19:33	2026-05-29 21:38	Returns	normal	email	55	5
T-8566	2026-05-27 20:23	2026-05-29 23:30	First Line	normal	Partner	5	5
T-8567	2026-05-28 06:02	2026-05-31 01:38	Returns	normal	phone	90	1
T-8568	2026-05-28 10:04	2026-05-30 16:27	First Line	urgent	email	29	5
T-8569	2026-05-28 11:28	2026-05-28 23:54	Returns	low	chat	81	5
T-8570	2026-05-28 13:25	2026-05-29 09:54	First Line	high	chat	10	\N
T-8571	2026-05-28 15:48	2026-05-31 08:41	First Line	urgent	email	15	2
T-8572	2026-05-28 17:01	2026-05-29 20:36	Open Platform	urgent	email	31	4
T-8573	2026-05-28 17:19	2026-05-28 23:23	Night Shift	normal	email	194	3
T-8574	2026-05-28 20:07	2026-05-31 09:00	Returns	high	phone	40	4
T-8575	2026-05-29 07:59	2026-05-31 02:38	First Line	low	phone	34	4
T-8576	2026-05-29 08:43	2026-05-30 08:46	Night Shift	urgent	email	231	4
T-8577	2026-05-29 08:57	2026-06-01 04:05	Night Shift	urgent	chat	61	\N
T-8578	2026-05-29 10:02	2026-06-01 03:59	Night Shift	normal	email	206	1
T-8579	2026-05-29 13:31	2026-05-30 23:43	Returns	low	chat	67	4
T-8580	2026-05-29 14:36	2026-05-30 05:29	Returns	normal	Partner	131	\N
T-8581	2026-05-29 14:43	2026-06-01 01:32	Night Shift	normal	email	124	\N
T-8582	2026-05-29 14:48	2026-05-31 03:14	Open Platform	urgent	email	41	\N
T-8583	2026-05-29 16:33	2026-05-30 12:16	Night Shift	normal	email	18	2
T-8584	2026-05-29 19:06	2026-06-01 07:15	Returns	normal	chat	130	3
T-8585	2026-05-29 19:22	2026-05-31 20:55	First Line	urgent	phone	29	2
T-8586	2026-05-30 08:55	2026-06-01 16:03	First Line	low	web form	15	2
T-8587	2026-05-30 09:42	\N	First Line	high	email	18	\N
T-8588	2026-05-30 10:57	2026-05-30 20:22	First Line	high	email	30	5
T-8589	2026-05-30 14:03	2026-05-31 23:10	Night Shift	urgent	chat	188	3
T-8590	2026-05-30 19:10	2026-06-02 00:38	Open Platform	normal	Partner	66	1
T-8591	2026-05-30 19:48	2026-05-31 09:32	First Line	normal	email	28	2
T-8592	2026-05-30 19:59	2026-05-31 06:46	Returns	high	Partner	63	3
T-8593	2026-05-31 08:24	2026-05-31 11:09	Open Platform	high	email	89	\N
T-8594	2026-05-31 14:05	\N	Billing	low	email	14	\N
T-8595	2026-05-31 18:04	2026-06-02 22:59	Night Shift	low	email	231	3
T-8596	2026-06-01 10:34	2026-06-04 00:56	First Line	normal	Partner	32	5
T-8597	2026-06-01 13:22	2026-06-04 05:49	First Line	normal	chat	13	1
T-8598	2026-06-01 13:36	2026-06-03 08:19	Returns	normal	web form	9	\N
T-8599	2026-06-01 13:45	2026-06-04 05:56	Partner	high	chat	190	5
T-8600	2026-06-01 15:44	2026-06-03 07:31	Open Platform	urgent	email	24	\N
T-8601	2026-06-01 16:28	2026-06-04 10:18	Partner	high	chat	157	\N
T-8602	2026-06-01 19:15	2026-06-03 19:09	Night Shift	normal	phone	134	4
T-8603	2026-06-02 06:17	2026-06-03 21:40	Open Platform	low	web form	111	3
T-8604	2026-06-02 10:50	2026-06-04 00:56	Returns	normal	Partner	115	3
T-8605	2026-06-02 15:40	2026-06-05 03:53	Night Shift	normal	Partner	238	4
T-8606	2026-06-02 20:08	2026-06-03 13:55	Returns	normal	Partner	83	\N
T-8607	2026-06-03 13:30	2026-06-03 18:45	Billing	low	phone	28	4
T-8608	2026-06-03 14:29	2026-06-06 02:47	Night Shift	normal	email	211	2
T-8609	2026-06-03 14:51	2026-06-06 01:29	Open Platform	high	Partner	18	\N
T-8610	2026-06-03 15:49	2026-06-04 18:28	Returns	urgent	chat	119	4
T-8611	2026-06-03 18:29	2026-06-03 21:47	Open Platform	normal	chat	33	3
T-8612	2026-06-03 20:51	2026-06-05 02:00	Partner	normal	email	54	2
T-8613	2026-06-03 20:54	2026-06-05 14:43	Open Platform	low	web form	50	5
T-8614	2026-06-03 21:06	2026-06-05 13:56	Open Platform	normal	Partner	95	4
T-8615	2026-06-04 09:22	2026-06-06 07:19	First Line	normal	Partner	20	\N
T-8616	2026-06-04 09:46	2026-06-06 22:22	Returns	low	email	126	5
T-8617	2026-06-04 12:41	2026-06-07 02:28	Billing	normal	email	22	2
T-8618	2026-06-04 12:51	2026-06-05 09:19	Night Shift	urgent	web form	201	4
T-8619	2026-06-04 14:09	2026-06-06 03:07	Returns	high	Partner	40	2
T-8620	2026-06-04 14:43	2026-06-06 19:10	Partner	normal	web form	174	\N
T-8621	2026-06-04 19:03	2026-06-05 11:19	Returns	normal	chat	41	1
T-8622	2026-06-05 10:35	2026-06-05 20:23	Returns	normal	phone	48	5
T-8623	2026-06-05 12:10	2026-06-07 12:27	Returns	normal	email	64	\N
T-8624	2026-06-05 13:24	2026-06-06 04:32	First Line	normal	chat	28	4
T-8625	2026-06-05 17:18	2026-06-07 18:56	Billing	low	chat	30	1
T-8626	2026-06-05 17:28	2026-06-06 01:29	Partner	high	email	202	5
T-8627	2026-06-05 17:32	2026-06-07 19:36	Returns	normal	phone	59	\N
T-8628	2026-06-06 06:05	2026-06-08 12:12	Billing	low	Partner	55	3
T-8629	2026-06-06 07:21	2026-06-08 09:22	Night Shift	normal	phone	21	3
T-8630	2026-06-06 09:06	2026-06-06 22:58	Returns	urgent	phone	129	5
T-8631	2026-06-06 11:22	2026-06-08 04:15	Billing	high	chat	71	4
T-8632	2026-06-06 12:23	2026-06-07 06:24	Partner	high	chat	189	2
T-8633	2026-06-06 14:07	2026-06-07 21:49	First Line	high	chat	31	1
T-8634	2026-06-06 14:34	2026-06-07 21:24	Partner	normal	chat	66	4
T-8635	2026-06-07 06:47	2026-06-07 19:12	Night Shift	normal	Partner	129	3
T-8636	2026-06-07 09:26	2026-06-07 13:23	First Line	low	Partner	15	3
T-8637	2026-06-07 10:02	2026-06-07 14:34	Partner	normal	phone	91	\N
T-8638	2026-06-07 17:05	2026-06-09 00:34	Returns	low	chat	89	5
T-8639	2026-06-07 17:20	2026-06-10 13:56	Night Shift	high	email	171	\N
T-8640	2026-06-07 19:55	2026-06-10 13:24	Open Platform	normal	phone	90	4
T-8641	2026-06-07 20:36	2026-06-09 12:45	Partner	low	chat	76	2
T-8642	2026-06-07 21:32	2026-06-09 18:46	Returns	normal	web form	11	2
T-8643	2026-06-08 12:16	2026-06-09 23:35	Open Platform	low	Partner	113	3
T-8644	2026-06-08 17:01	2026-06-09 14:44	Partner	high	web form	200	3
T-8645	2026-06-08 19:13	2026-06-09 10:10	First Line	normal	email	17	3
T-8646	2026-06-09 10:33	2026-06-09 14:35	Returns	high	email	56	5
T-8647	2026-06-09 10:48	2026-06-09 19:23	Open Platform	urgent	Partner	17	1
T-8648	2026-06-09 11:57	2026-06-11 08:42	Partner	normal	web form	138	5
T-8649	2026-06-09 13:05	2026-06-10 19:04	First Line	normal	chat	27	5
T-8650	2026-06-09 14:07	2026-06-11 08:04	Billing	urgent	phone	80	3
T-8651	2026-06-09 14:27	2026-06-11 19:10	First Line	normal	phone	32	3
T-8652	2026-06-09 16:33	2026-06-10 23:05	First Line	normal	email	5	1
T-8653	2026-06-09 19:33	2026-06-09 20:53	Billing	low	chat	56	3
T-8654	2026-06-10 07:25	2026-06-10 09:40	First Line	high	chat	8	3
T-8655	2026-06-10 07:45	2026-06-12 08:46	Billing	normal	Partner	23	3
T-8656	2026-06-10 09:57	2026-06-11 22:11	Returns	urgent	email	103	3
T-8657	2026-06-10 10:06	2026-06-12 05:57	Partner	normal	Partner	106	\N
T-8658	2026-06-10 13:13	2026-06-13 08:43	Billing	high	email	58	2
T-8659	2026-06-10 13:53	2026-06-11 07:39	Partner	low	phone	225	2
T-8660	2026-06-10 15:16	2026-06-10 15:57	First Line	low	email	16	4
T-8661	2026-06-11 07:06	2026-06-12 17:27	Returns	normal	chat	15	5
T-8662	2026-06-11 09:29	2026-06-12 07:13	Partner	low	email	138	5
T-8663	2026-06-11 10:50	2026-06-13 02:17	First Line	low	Partner	30	4
T-8664	2026-06-11 15:10	2026-06-14 04:02	Night Shift	urgent	email	219	1
T-8665	2026-06-11 19:04	2026-06-12 19:02	Billing	normal	email	84	5
T-8666	2026-06-12 08:23	2026-06-14 14:31	Open Platform	normal	chat	123	\N
T-8667	2026-06-12 10:03	2026-06-12 21:03	Returns	high	web form	128	1
T-8668	2026-06-12 11:33	2026-06-14 04:40	Returns	normal	Partner	75	5
T-8669	2026-06-12 20:16	2026-06-13 06:12	Night Shift	urgent	email	194	5
T-8670	2026-06-13 06:23	2026-06-15 05:52	Billing	normal	Partner	78	5
T-8671	2026-06-13 06:41	2026-06-15 14:12	Open Platform	normal	email	69	4
T-8672	2026-06-13 06:48	2026-06-14 05:37	First Line	normal	phone	23	\N
T-8673	2026-06-13 07:22	2026-06-14 00:04	Billing	low	phone	11	3
T-8674	2026-06-13 07:51	2026-06-14 22:41	Partner	normal	Partner	193	5
T-8675	2026-06-13 08:45	2026-06-13 12:14	Open Platform	normal	email	98	5
T-8676	2026-06-13 11:46	2026-06-14 06:41	Open Platform	low	phone	105	5
T-8677	2026-06-13 11:52	2026-06-14 15:58	Billing	urgent	Partner	57	5
T-8678	2026-06-13 13:19	2026-06-14 19:51	First Line	high	Partner	29	2
T-8679	2026-06-13 16:13	2026-06-15 08:12	Billing	normal	chat	80	3
T-8680	2026-06-14 07:27	2026-06-17 00:23	Open Platform	low	phone	37	\N
T-8681	2026-06-14 07:50	2026-06-14 18:36	First Line	high	phone	25	3
T-8682	2026-06-14 12:50	2026-06-16 00:45	Partner	normal	chat	80	\N
T-8683	2026-06-14 15:52	2026-06-15 07:42	Night Shift	high	phone	167	\N
T-8684	2026-06-14 19:50	2026-06-16 09:07	Billing	normal	Partner	47	2
T-8685	2026-06-14 19:59	2026-06-16 10:34	Returns	urgent	email	114	5
T-8686	2026-06-14 20:12	2026-06-16 20:41	Billing	low	phone	7	5
T-8687	2026-06-15 06:50	2026-06-16 15:51	Night Shift	normal	email	197	3
T-8688	2026-06-15 08:29	2026-06-15 12:05	First Line	low	phone	8	4
T-8689	2026-06-15 16:48	2026-06-16 01:31	First Line	urgent	web form	7	1
T-8690	2026-06-15 19:55	2026-06-16 08:20	Open Platform	urgent	web form	115	4
T-8691	2026-06-16 06:01	2026-06-16 16:23	First Line	high	email	7	1
T-8692	2026-06-16 07:36	2026-06-17 04:55	Open Platform	high	email	31	4
T-8693	2026-06-16 07:41	2026-06-17 12:33	Partner	high	chat	16	2
T-8694	2026-06-16 07:51	2026-06-18 22:34	Open Platform	normal	chat	87	5
T-8695	2026-06-16 10:13	2026-06-19 01:24	Night Shift	normal	web form	134	3
T-8696	2026-06-16 13:00	2026-06-18 14:16	Billing	high	Partner	21	3
T-8697	2026-06-16 15:58	2026-06-17 20:12	Returns	urgent	email	85	4
T-8698	2026-06-16 19:36	2026-06-18 22:28	Partner	high	web form	20	5
T-8699	2026-06-17 10:28	2026-06-17 15:16	Night Shift	low	email	239	3
T-8700	2026-06-17 11:03	\N	Partner	high	email	110	\N
T-8701	2026-06-17 13:07	2026-06-19 02:41	First Line	low	email	29	\N
T-8702	2026-06-17 15:35	2026-06-18 01:16	First Line	normal	phone	15	\N
T-8703	2026-06-17 15:59	2026-06-20 02:57	First Line	high	email	18	3
T-8704	2026-06-17 18:16	2026-06-19 16:39	Night Shift	normal	Partner	222	5
T-8705	2026-06-17 18:27	2026-06-20 00:00	Returns	normal	email	77	5
T-8706	2026-06-17 18:27	2026-06-19 08:12	Night Shift	urgent	chat	239	\N
T-8707	2026-06-17 20:52	\N	Billing	high	email	71	\N
T-8708	2026-06-17 21:01	2026-06-19 11:19	Open Platform	urgent	email	129	4
T-8709	2026-06-18 07:19	2026-06-18 16:08	Open Platform	normal	chat	75	5
T-8710	2026-06-18 08:25	2026-06-18 20:59	Partner	urgent	web form	111	\N
T-8711	2026-06-18 12:23	2026-06-21 06:19	Returns	normal	web form	21	5
T-8712	2026-06-18 14:29	2026-06-20 13:18	Partner	urgent	web form	78	1
T-8713	2026-06-18 14:30	2026-06-19 14:32	Billing	normal	email	82	3
T-8714	2026-06-18 15:44	2026-06-19 05:11	Billing	normal	email	71	4
T-8715	2026-06-18 19:01	2026-06-20 15:25	First Line	normal	Partner	34	5
T-8716	2026-06-18 20:01	2026-06-21 10:21	Night Shift	normal	chat	162	4
T-8717	2026-06-19 11:52	2026-06-21 14:55	First Line	high	email	3	1
T-8718	2026-06-19 13:34	2026-06-21 11:08	Partner	low	email	186	\N
T-8719	2026-06-19 13:42	2026-06-21 13:44	Returns	high	chat	44	5
T-8720	2026-06-19 14:18	2026-06-19 23:57	Billing	low	email	32	5
T-8721	2026-06-19 14:25	2026-06-20 22:58	Open Platform	normal	phone	166	\N
T-8722	2026-06-19 14:43	2026-06-20 07:54	First Line	normal	email	28	\N
T-8723	2026-06-19 14:45	2026-06-21 10:18	Night Shift	normal	email	154	5
T-8724	2026-06-19 16:38	2026-06-20 14:21	First Line	high	phone	4	2
T-8725	2026-06-19 17:23	\N	Open Platform	low	web form	162	\N
T-8726	2026-06-20 06:59	2026-06-20 08:36	First Line	high	email	18	4
T-8727	2026-06-20 10:01	2026-06-22 05:27	Partner	urgent	chat	26	2
T-8728	2026-06-20 11:09	2026-06-22 03:48	Night Shift	urgent	email	105	4
T-8729	2026-06-20 11:17	2026-06-22 04:24	First Line	normal	phone	35	4
T-8730	2026-06-20 17:43	2026-06-23 08:41	Open Platform	normal	email	64	4
T-8731	2026-06-20 19:29	2026-06-21 16:36	Night Shift	high	Partner	166	2
T-8732	2026-06-20 20:24	2026-06-22 06:06	Night Shift	urgent	email	161	5
T-8733	2026-06-20 21:25	2026-06-21 05:03	First Line	urgent	web form	10	1
T-8734	2026-06-21 06:17	2026-06-21 19:06	Partner	high	email	161	5
T-8735	2026-06-21 06:41	2026-06-23 16:50	Billing	high	phone	22	5
T-8736	2026-06-21 08:39	2026-06-23 12:46	First Line	normal	email	24	4
T-8737	2026-06-21 10:30	2026-06-22 10:07	Returns	normal	phone	116	5
T-8738	2026-06-21 19:58	2026-06-23 09:51	Returns	high	email	36	5
T-8739	2026-06-21 19:59	2026-06-23 11:35	Billing	normal	email	80	\N
T-8740	2026-06-22 08:32	2026-06-24 11:24	Returns	normal	Partner	54	1
T-8741	2026-06-22 12:09	2026-06-23 05:20	Billing	normal	email	89	2
T-8742	2026-06-22 13:11	2026-06-23 03:12	First Line	low	email	24	1
T-8743	2026-06-22 13:47	2026-06-25 04:10	Partner	normal	web form	36	\N
T-8744	2026-06-22 13:58	2026-06-25 03:56	Partner	urgent	chat	148	\N
T-8745	2026-06-22 16:49	2026-06-23 11:05	Billing	normal	email	75	5
T-8746	2026-06-22 18:37	2026-06-25 09:43	Billing	normal	web form	80	2
T-8747	2026-06-22 20:39	2026-06-25 02:00	Night Shift	normal	Partner	162	1
T-8748	2026-06-23 08:13	2026-06-23 17:04	First Line	normal	email	25	4
T-8749	2026-06-23 11:01	2026-06-24 22:46	Open Platform	normal	email	12	4
T-8750	2026-06-23 14:11	2026-06-24 09:32	Night Shift	normal	web form	50	3
T-8751	2026-06-24 07:57	2026-06-25 19:30	Partner	normal	email	90	3
T-8752	2026-06-24 09:02	2026-06-25 23:02	Billing	normal	phone	43	5
T-8753	2026-06-24 14:51	2026-06-25 00:29	Night Shift	high	web form	132	3
T-8754	2026-06-24 15:04	2026-06-26 00:04	Open Platform	urgent	email	94	1
T-8755	2026-06-24 17:08	2026-06-25 16:59	Open Platform	high	email	142	\N
T-8756	2026-06-24 21:25	2026-06-27 13:12	Partner	low	web form	78	\N
T-8757	2026-06-25 06:39	2026-06-27 15:28	Returns	urgent	Partner	16	2
T-8758	2026-06-25 07:19	2026-06-27 05:58	Billing	urgent	Partner	63	2
T-8759	2026-06-25 07:40	2026-06-26 15:28	Night Shift	high	chat	252	4
T-8760	2026-06-25 08:02	2026-06-26 14:09	Billing	normal	email	7	\N
T-8761	2026-06-25 11:25	2026-06-27 13:37	Open Platform	normal	web form	178	5
T-8762	2026-06-25 16:17	2026-06-27 13:57	Night Shift	normal	chat	230	4
T-8763	2026-06-25 18:28	2026-06-26 19:31	Open Platform	normal	phone	88	5
T-8764	2026-06-25 21:19	2026-06-26 19:59	Night Shift	high	chat	123	4
T-8765	2026-06-26 06:04	2026-06-28 19:23	First Line	low	web form	3	5
T-8766	2026-06-26 15:10	2026-06-28 01:32	Returns	normal	chat	125	2
T-8767	2026-06-26 15:53	2026-06-27 22:20	First Line	normal	web form	29	4
T-8768	2026-06-27 06:16	2026-06-27 22:35	Returns	high	phone	89	2
T-8769	2026-06-27 06:20	2026-06-30 01:08	Open Platform	urgent	email	43	4
T-8770	2026-06-27 07:16	2026-06-27 19:24	Partner	normal	phone	181	2
T-8771	2026-06-27 10:12	2026-06-28 23:32	Night Shift	high	web form	264	4
T-8772	2026-06-27 11:22	2026-06-29 18:02	Open Platform	urgent	Partner	66	\N
T-8773	2026-06-27 11:30	2026-06-29 11:39	First Line	normal	email	7	\N
T-8774	2026-06-27 14:16	2026-06-30 01:23	Partner	normal	email	105	\N
T-8775	2026-06-27 14:21	2026-06-29 15:47	Partner	low	chat	162	1
T-8776	2026-06-27 15:02	2026-06-29 01:00	Open Platform	normal	email	85	\N
T-8777	2026-06-27 15:59	2026-06-28 03:35	First Line	normal	email	7	1
T-8778	2026-06-27 20:53	2026-06-28 07:37	First Line	normal	web form	11	2
T-8779	2026-06-28 09:04	2026-07-01 00:44	First Line	normal	web form	19	5
T-8780	2026-06-28 14:38	2026-06-30 11:51	Returns	low	chat	94	5
T-8781	2026-06-28 17:09	2026-07-01 09:04	Partner	high	email	126	\N
T-8782	2026-06-28 19:18	2026-06-30 16:59	Returns	high	phone	45	3
T-8783	2026-06-28 20:03	2026-06-30 18:17	First Line	normal	Partner	8	\N
T-8784	2026-06-28 20:17	2026-06-30 10:27	Night Shift	normal	phone	73	4
T-8785	2026-06-29 06:52	2026-06-29 20:15	Billing	normal	phone	66	\N
T-8786	2026-06-29 08:25	2026-07-01 20:51	First Line	low	web form	3	5
T-8787	2026-06-29 11:20	2026-07-02 05:30	First Line	normal	chat	23	5
T-8788	2026-06-29 13:55	2026-06-30 14:19	Night Shift	urgent	chat	117	4
T-8789	2026-06-29 14:06	2026-07-01 11:14	Billing	normal	email	51	5
T-8790	2026-06-29 20:51	2026-07-01 09:07	Returns	normal	chat	47	\N
T-8791	2026-06-29 21:06	2026-06-30 03:22	Partner	low	chat	30	4
T-8792	2026-06-30 08:38	2026-07-01 02:12	Returns	normal	chat	38	\N
T-8793	2026-06-30 10:56	2026-06-30 20:04	Returns	low	chat	80	5
T-8794	2026-06-30 14:38	2026-06-30 17:45	Open Platform	urgent	email	105	5
T-8795	2026-06-30 15:12	2026-07-03 02:32	Night Shift	low	email	90	3
T-8796	2026-06-30 16:13	2026-07-01 05:36	Billing	normal	email	75	5
T-8797	2026-06-30 18:06	2026-07-02 10:38	Night Shift	normal	web form	133	\N
T-8798	2026-06-30 19:07	2026-07-01 17:03	Open Platform	high	email	154	5
T-8799	2026-07-01 06:47	2026-07-02 22:40	Returns	low	Partner	66	4
T-8800	2026-07-01 07:56	2026-07-02 23:21	Returns	low	email	122	\N
T-8801	2026-07-01 09:43	2026-07-01 23:05	Night Shift	high	email	174	4
T-8802	2026-07-01 10:25	2026-07-01 23:22	Returns	low	email	72	\N
T-8803	2026-07-01 11:18	2026-07-01 12:26	Billing	normal	email	15	4
T-8804	2026-07-01 13:51	2026-07-03 08:18	Partner	normal	email	216	5
T-8805	2026-07-01 16:41	2026-07-01 19:37	Billing	low	Partner	86	1
T-8806	2026-07-01 17:12	2026-07-02 04:21	Open Platform	normal	Partner	16	4
T-8807	2026-07-01 17:45	2026-07-03 02:46	Returns	high	email	13	5
T-8808	2026-07-01 18:42	2026-07-04 11:53	Billing	normal	email	41	3
T-8809	2026-07-01 20:16	2026-07-04 09:06	Billing	normal	email	20	2
T-8810	2026-07-02 13:14	2026-07-03 08:35	Billing	normal	web form	51	4
T-8811	2026-07-02 16:04	2026-07-03 13:41	Night Shift	high	Partner	129	3
T-8812	2026-07-02 17:11	2026-07-05 02:29	Returns	low	web form	30	\N
T-8813	2026-07-03 08:52	2026-07-04 15:19	Returns	urgent	phone	77	1
T-8814	2026-07-03 14:21	2026-07-04 16:47	Billing	low	Partner	27	3
T-8815	2026-07-03 15:05	2026-07-03 22:03	Open Platform	urgent	Partner	130	\N
T-8816	2026-07-03 15:07	2026-07-03 22:23	Returns	normal	phone	56	5
T-8817	2026-07-03 15:49	2026-07-03 19:22	First Line	low	phone	14	5
T-8818	2026-07-03 16:22	2026-07-05 02:40	Open Platform	urgent	Partner	27	4
T-8819	2026-07-03 16:23	2026-07-06 05:35	Billing	low	phone	34	5
T-8820	2026-07-04 09:15	2026-07-04 15:54	Open Platform	normal	chat	30	5
T-8821	2026-07-04 11:34	2026-07-05 08:38	Open Platform	normal	phone	137	\N
T-8822	2026-07-04 12:32	2026-07-05 10:18	Billing	normal	web form	40	\N
T-8823	2026-07-04 13:28	2026-07-05 22:19	Partner	high	email	149	2
T-8824	2026-07-04 16:17	2026-07-07 00:50	Returns	low	email	70	4
T-8825	2026-07-04 19:22	2026-07-07 15:17	Open Platform	low	Partner	158	5
T-8826	2026-07-04 19:24	2026-07-07 10:51	Night Shift	low	email	162	3
T-8827	2026-07-04 19:31	2026-07-05 23:36	Night Shift	normal	chat	211	2
T-8828	2026-07-04 20:25	2026-07-05 20:02	Partner	normal	phone	223	2
T-8829	2026-07-05 08:15	2026-07-06 03:15	Night Shift	normal	web form	241	4
T-8830	2026-07-05 15:07	2026-07-06 06:43	Open Platform	normal	phone	22	1
T-8831	2026-07-05 19:18	2026-07-06 05:49	Partner	high	web form	146	5
T-8832	2026-07-05 19:29	2026-07-07 01:02	Returns	low	web form	32	5
T-8833	2026-07-06 07:38	2026-07-08 21:01	Open Platform	low	Partner	142	2
T-8834	2026-07-06 08:54	2026-07-07 16:22	First Line	normal	web form	3	5
T-8835	2026-07-06 08:55	\N	Billing	normal	chat	59	\N
T-8836	2026-07-06 11:17	2026-07-09 05:42	Partner	low	Partner	80	3
T-8837	2026-07-06 11:42	2026-07-06 15:18	Night Shift	urgent	chat	181	\N
T-8838	2026-07-06 11:51	2026-07-07 20:21	First Line	urgent	phone	3	4
T-8839	2026-07-06 11:58	2026-07-07 12:01	Returns	high	email	134	\N
T-8840	2026-07-06 13:43	2026-07-08 12:36	First Line	urgent	email	4	5
T-8841	2026-07-06 14:35	2026-07-08 13:33	Partner	normal	web form	146	4
T-8842	2026-07-06 15:49	2026-07-07 23:46	Partner	normal	web form	137	1
T-8843	2026-07-06 19:52	2026-07-08 01:33	Night Shift	urgent	web form	42	2
T-8844	2026-07-07 06:34	2026-07-08 00:53	Partner	low	chat	153	5
T-8845	2026-07-07 08:01	2026-07-09 18:44	Night Shift	urgent	phone	19	1
T-8846	2026-07-07 10:14	2026-07-08 21:25	Night Shift	high	phone	34	5
T-8847	2026-07-07 12:02	2026-07-08 19:31	Night Shift	normal	email	220	4
T-8848	2026-07-07 17:07	2026-07-08 09:34	Returns	urgent	phone	62	4
T-8849	2026-07-07 17:31	2026-07-09 16:10	Open Platform	normal	email	139	\N
T-8850	2026-07-07 20:49	2026-07-09 09:29	Partner	normal	email	116	4
T-8851	2026-07-07 21:38	2026-07-09 02:04	Open Platform	high	email	15	3
T-8852	2026-07-08 07:20	2026-07-10 19:43	First Line	low	email	29	3
T-8853	2026-07-08 11:16	2026-07-09 12:39	Open Platform	normal	email	60	1
T-8854	2026-07-08 11:25	\N	Open Platform	normal	chat	177	\N
T-8855	2026-07-08 12:14	2026-07-09 05:02	Billing	normal	phone	41	\N
T-8856	2026-07-08 17:39	2026-07-10 07:32	Night Shift	normal	email	108	5
T-8857	2026-07-08 19:34	2026-07-11 12:34	Open Platform	normal	email	81	4
T-8858	2026-07-08 19:57	2026-07-10 19:30	First Line	normal	Partner	17	\N
T-8859	2026-07-08 19:58	2026-07-11 02:07	Billing	urgent	web form	33	4
T-8860	2026-07-08 20:16	2026-07-11 03:04	Returns	low	email	105	\N
T-8861	2026-07-09 07:56	2026-07-09 23:43	First Line	normal	Partner	32	\N
T-8862	2026-07-09 10:00	2026-07-09 11:26	Partner	high	email	75	5
T-8863	2026-07-09 13:37	2026-07-11 03:22	Open Platform	high	web form	61	4
T-8864	2026-07-09 19:58	2026-07-12 05:48	Night Shift	high	email	171	3
T-8865	2026-07-10 06:32	2026-07-11 13:52	Partner	low	email	111	5
T-8866	2026-07-10 08:54	2026-07-11 09:22	First Line	urgent	web form	6	3
T-8867	2026-07-10 10:18	2026-07-13 01:03	Night Shift	low	phone	246	5
T-8868	2026-07-10 10:45	2026-07-10 14:37	Billing	normal	web form	14	\N
T-8869	2026-07-10 10:57	2026-07-13 00:48	First Line	urgent	email	4	\N
T-8870	2026-07-10 16:15	2026-07-11 02:04	Partner	low	email	172	2
T-8871	2026-07-10 18:09	2026-07-11 05:42	Billing	normal	phone	74	\N
T-8872	2026-07-10 18:21	2026-07-12 19:59	Open Platform	high	email	77	5
T-8873	2026-07-10 19:06	2026-07-11 21:50	Night Shift	urgent	email	180	5
T-8874	2026-07-11 06:26	2026-07-11 21:00	Returns	high	phone	95	3
T-8875	2026-07-11 07:56	2026-07-13 07:07	First Line	normal	email	19	5
T-8876	2026-07-11 15:15	2026-07-13 08:09	Open Platform	normal	phone	159	4
T-8877	2026-07-11 15:38	2026-07-13 08:46	First Line	high	email	17	\N
T-8878	2026-07-12 07:06	2026-07-14 20:43	Partner	normal	email	119	5
T-8879	2026-07-12 11:38	2026-07-13 16:52	First Line	normal	web form	3	5
T-8880	2026-07-12 12:16	2026-07-14 18:53	Returns	low	email	70	5
T-8881	2026-07-12 16:20	2026-07-13 19:24	Night Shift	normal	Partner	63	1
T-8882	2026-07-12 16:27	2026-07-14 05:05	Night Shift	normal	email	212	3
T-8883	2026-07-12 17:02	2026-07-13 00:21	Night Shift	normal	email	168	1
T-8884	2026-07-12 17:52	2026-07-14 11:46	Returns	normal	web form	29	5
T-8885	2026-07-12 20:26	2026-07-15 05:18	Night Shift	low	phone	108	5
T-8886	2026-07-13 06:06	2026-07-13 19:36	Partner	normal	email	101	3
T-8887	2026-07-13 06:36	2026-07-15 19:36	First Line	normal	web form	27	\N
T-8888	2026-07-13 08:17	2026-07-15 10:42	Partner	low	Partner	62	4
T-8889	2026-07-13 10:07	2026-07-15 02:08	First Line	high	phone	21	5
T-8890	2026-07-13 10:18	2026-07-16 00:15	Open Platform	high	phone	104	1
T-8891	2026-07-13 11:00	2026-07-14 07:42	Billing	urgent	email	17	5
T-8892	2026-07-13 17:07	2026-07-15 08:30	First Line	normal	web form	23	4
T-8893	2026-07-13 18:22	2026-07-14 12:50	Returns	normal	email	109	5
T-8894	2026-07-13 19:47	2026-07-14 19:26	Open Platform	normal	chat	79	1
T-8895	2026-07-14 09:56	2026-07-16 07:29	Night Shift	normal	phone	80	5
T-8896	2026-07-14 10:08	2026-07-16 10:21	Returns	normal	Partner	105	5
T-8897	2026-07-14 12:54	2026-07-14 18:44	Open Platform	normal	Partner	48	\N
T-8898	2026-07-14 18:06	2026-07-16 23:46	First Line	urgent	email	21	\N
T-8899	2026-07-14 18:18	2026-07-15 08:42	First Line	normal	web form	20	4
T-8900	2026-07-14 19:13	2026-07-16 18:38	Open Platform	normal	chat	140	5
T-8901	2026-07-15 08:44	2026-07-18 03:46	Partner	high	chat	144	\N
T-8902	2026-07-15 09:49	2026-07-16 05:04	Open Platform	normal	chat	169	2
T-8903	2026-07-15 12:10	2026-07-16 04:54	Partner	normal	phone	45	1
T-8904	2026-07-15 12:22	2026-07-17 22:17	First Line	urgent	Partner	26	\N
T-8905	2026-07-15 15:27	2026-07-15 16:46	Billing	normal	email	41	2
T-8906	2026-07-15 21:31	2026-07-16 13:41	Night Shift	normal	chat	21	4
T-8907	2026-07-16 08:22	2026-07-16 14:14	Open Platform	normal	email	138	\N
T-8908	2026-07-16 08:50	2026-07-16 20:05	Night Shift	high	email	111	5
T-8909	2026-07-16 09:12	2026-07-18 16:07	Returns	high	email	76	2
T-8910	2026-07-16 10:42	2026-07-17 03:52	Returns	normal	web form	102	1
T-8911	2026-07-16 12:33	2026-07-17 08:38	Returns	high	Partner	69	5
T-8912	2026-07-16 12:52	2026-07-17 10:21	First Line	normal	Partner	26	\N
T-8913	2026-07-16 12:52	2026-07-16 22:55	First Line	high	Partner	25	5
T-8914	2026-07-16 13:53	2026-07-18 09:57	Partner	normal	Partner	123	2
T-8915	2026-07-16 16:33	2026-07-17 05:47	First Line	normal	email	16	5
T-8916	2026-07-16 18:14	2026-07-19 10:18	First Line	high	chat	17	2
T-8917	2026-07-16 21:07	2026-07-19 06:07	Open Platform	high	email	93	4
T-8918	2026-07-17 06:54	2026-07-18 10:38	Returns	normal	web form	75	4
T-8919	2026-07-17 09:02	2026-07-18 14:14	Returns	urgent	Partner	39	4
T-8920	2026-07-17 09:17	2026-07-17 17:10	First Line	high	phone	29	4
T-8921	2026-07-17 10:20	2026-07-19 12:36	Returns	normal	Partner	39	4
T-8922	2026-07-17 11:42	2026-07-18 00:47	Billing	normal	email	70	3
T-8923	2026-07-17 12:01	2026-07-17 20:44	Returns	urgent	chat	12	\N
T-8924	2026-07-17 20:41	2026-07-20 05:33	Partner	normal	Partner	147	4
T-8925	2026-07-18 06:50	2026-07-20 06:10	Open Platform	urgent	email	41	1
T-8926	2026-07-18 08:34	\N	Open Platform	low	Partner	143	\N
T-8927	2026-07-18 13:17	2026-07-20 19:30	Night Shift	low	Partner	96	2
T-8928	2026-07-18 13:43	2026-07-20 22:09	Night Shift	normal	web form	107	1
T-8929	2026-07-18 15:01	2026-07-18 20:01	Open Platform	normal	chat	151	5
T-8930	2026-07-18 15:30	2026-07-18 17:23	Night Shift	normal	chat	38	\N
T-8931	2026-07-18 15:44	\N	Open Platform	normal	Partner	90	\N
T-8932	2026-07-18 16:05	2026-07-20 09:55	Returns	normal	email	108	2
T-8933	2026-07-18 17:25	2026-07-21 14:07	Night Shift	high	chat	126	\N
T-8934	2026-07-18 20:54	2026-07-20 03:10	Billing	normal	phone	75	5
T-8935	2026-07-19 06:41	2026-07-19 20:57	First Line	normal	web form	27	3
T-8936	2026-07-19 08:15	2026-07-20 21:41	Open Platform	normal	chat	96	1
T-8937	2026-07-19 08:52	2026-07-20 18:09	Partner	high	Partner	147	\N
T-8938	2026-07-19 11:39	2026-07-20 10:45	Returns	high	email	87	5
T-8939	2026-07-19 12:12	2026-07-19 21:00	Returns	normal	Partner	58	4
T-8940	2026-07-19 12:47	2026-07-22 07:35	Returns	normal	email	57	5
T-8941	2026-07-19 13:18	2026-07-21 18:53	First Line	low	email	23	\N
T-8942	2026-07-19 13:56	2026-07-19 22:53	Night Shift	normal	email	250	5
T-8943	2026-07-19 15:09	2026-07-20 12:01	Partner	low	Partner	43	5
T-8944	2026-07-19 15:09	2026-07-20 06:54	Partner	urgent	Partner	52	2
T-8945	2026-07-20 09:01	2026-07-22 07:41	Open Platform	normal	email	42	2
T-8946	2026-07-20 09:15	2026-07-22 20:36	Night Shift	normal	phone	18	2
T-8947	2026-07-20 12:37	2026-07-22 23:18	Returns	normal	web form	78	\N
T-8948	2026-07-21 06:08	2026-07-23 18:38	First Line	normal	Partner	18	1
T-8949	2026-07-21 07:36	2026-07-23 03:36	Billing	normal	web form	33	2
T-8950	2026-07-21 11:10	2026-07-23 16:35	Night Shift	normal	phone	102	4
T-8951	2026-07-21 12:29	2026-07-21 22:49	Open Platform	high	web form	116	1
T-8952	2026-07-21 16:01	2026-07-24 04:10	Open Platform	normal	email	60	1
T-8953	2026-07-21 16:11	2026-07-22 07:41	Open Platform	low	email	110	5
T-8954	2026-07-21 17:56	2026-07-22 12:25	Open Platform	normal	chat	71	\N
T-8955	2026-07-21 20:18	2026-07-22 14:10	Open Platform	high	phone	70	\N
T-8956	2026-07-21 20:23	2026-07-22 02:16	First Line	urgent	web form	25	\N
T-8957	2026-07-21 21:39	2026-07-24 03:42	Partner	urgent	phone	24	\N
T-8958	2026-07-22 06:23	2026-07-24 11:39	Returns	high	chat	74	\N
T-8959	2026-07-22 10:01	\N	Billing	normal	chat	60	\N
T-8960	2026-07-22 17:29	2026-07-24 04:46	Open Platform	high	email	49	1
T-8961	2026-07-22 19:27	2026-07-23 10:44	Night Shift	high	chat	96	5
T-8962	2026-07-23 10:51	2026-07-26 02:48	Partner	low	Partner	39	5
T-8963	2026-07-23 15:28	2026-07-25 12:31	Night Shift	normal	Partner	252	\N
T-8964	2026-07-23 17:26	2026-07-26 11:12	Billing	normal	email	72	3
T-8965	2026-07-23 17:46	2026-07-24 21:33	Returns	normal	email	84	4
T-8966	2026-07-23 18:39	2026-07-25 12:09	Returns	normal	email	83	1
T-8967	2026-07-23 20:28	2026-07-25 04:11	Partner	high	Partner	47	1
T-8968	2026-07-23 20:51	2026-07-24 02:21	Partner	normal	email	218	2
T-8969	2026-07-23 21:33	2026-07-25 23:26	Night Shift	high	Partner	52	\N
T-8970	2026-07-24 07:31	2026-07-26 16:11	Billing	urgent	phone	56	5
T-8971	2026-07-24 08:16	2026-07-24 11:33	Partner	low	Partner	77	1
T-8972	2026-07-24 11:37	2026-07-26 13:24	Partner	normal	web form	51	\N
T-8973	2026-07-24 12:25	2026-07-25 03:18	Open Platform	urgent	chat	103	\N
T-8974	2026-07-24 14:31	2026-07-25 21:28	Billing	normal	email	49	1
T-8975	2026-07-24 15:11	2026-07-26 19:34	Partner	normal	web form	21	5
T-8976	2026-07-24 19:42	2026-07-26 16:30	Night Shift	high	web form	198	1
T-8977	2026-07-24 20:11	2026-07-25 21:54	Billing	normal	email	85	\N
T-8978	2026-07-24 20:12	2026-07-26 16:31	First Line	normal	email	27	3
T-8979	2026-07-24 20:58	2026-07-25 20:39	Partner	high	Partner	55	2
T-8980	2026-07-25 11:02	2026-07-26 00:08	Night Shift	urgent	chat	50	\N
T-8981	2026-07-25 12:04	2026-07-26 01:43	Partner	normal	email	199	4
T-8982	2026-07-25 12:06	2026-07-25 22:02	Open Platform	normal	web form	80	\N
T-8983	2026-07-25 15:57	2026-07-27 01:12	First Line	low	Partner	15	4
T-8984	2026-07-26 16:24	2026-07-29 01:40	Night Shift	high	email	99	\N
T-8985	2026-07-26 17:10	2026-07-29 13:52	Night Shift	high	email	195	5
T-8986	2026-07-26 17:34	2026-07-27 04:33	Partner	normal	email	153	4
T-8987	2026-07-26 20:16	2026-07-27 06:13	First Line	high	chat	31	3
T-8988	2026-07-26 20:36	2026-07-28 19:54	First Line	low	web form	12	\N
T-8989	2026-07-27 06:48	2026-07-27 21:22	Billing	normal	web form	21	3
T-8990	2026-07-27 10:38	2026-07-29 07:14	Returns	urgent	email	99	5
T-8991	2026-07-27 14:46	2026-07-28 21:15	First Line	normal	Partner	30	3
T-8992	2026-07-27 18:11	2026-07-30 00:26	Returns	high	email	21	2
T-8993	2026-07-28 08:10	2026-07-29 08:58	Partner	high	email	202	5
T-8994	2026-07-28 10:13	2026-07-28 17:43	First Line	normal	Partner	7	4
T-8995	2026-07-28 14:51	2026-07-29 07:48	Open Platform	normal	Partner	149	4
T-8996	2026-07-28 15:32	2026-07-30 02:05	Billing	normal	phone	58	5
T-8997	2026-07-29 07:07	\N	First Line	urgent	chat	27	\N
T-8998	2026-07-29 07:23	2026-07-29 20:00	First Line	low	Partner	12	2
T-8999	2026-07-29 12:55	2026-07-31 22:26	Night Shift	low	Partner	193	\N
T-9000	2026-07-29 13:37	2026-07-30 04:08	Open Platform	normal	Partner	97	2
T-9001	2026-07-29 15:48	2026-07-29 20:42	Returns	high	web form	41	1
T-9002	2026-07-29 17:49	2026-07-30 18:06	Billing	high	web form	20	\N
T-9003	2026-07-30 11:46	2026-08-01 07:13	Open Platform	urgent	web form	62	4
T-9004	2026-07-30 13:05	2026-07-31 12:01	Returns	normal	Partner	55	5
T-9005	2026-07-30 13:14	2026-08-01 15:45	Partner	high	Partner	148	5
T-9006	2026-07-30 14:50	2026-07-30 20:12	Night Shift	normal	email	239	4
T-9007	2026-07-30 16:02	2026-07-31 06:24	First Line	normal	email	25	4
T-9008	2026-07-30 16:54	2026-08-01 09:16	First Line	low	Partner	18	3
T-9009	2026-07-30 17:35	2026-08-01 09:49	First Line	normal	chat	2	1
T-9010	2026-07-30 19:03	2026-08-02 13:17	Partner	normal	email	102	2
T-9011	2026-07-30 21:03	2026-08-01 02:31	Returns	urgent	email	82	5
T-9012	2026-07-31 06:50	2026-08-02 06:44	Partner	normal	chat	93	2
T-9013	2026-07-31 07:30	2026-08-02 08:25	Partner	high	web form	91	4
T-9014	2026-07-31 10:43	\N	Billing	normal	email	67	\N
T-9015	2026-07-31 12:56	2026-08-03 04:58	Open Platform	normal	email	38	4
T-9016	2026-07-31 13:46	2026-08-01 03:23	First Line	normal	Partner	22	5
T-9017	2026-07-31 15:20	2026-08-01 15:36	Night Shift	low	email	63	\N
T-9018	2026-07-31 18:01	2026-08-02 16:32	Open Platform	high	email	70	5
T-9019	2026-07-31 18:49	2026-07-31 21:05	Billing	high	phone	30	2
T-9020	2026-07-31 19:55	2026-08-03 07:26	Open Platform	normal	chat	113	4
T-9021	2026-07-31 20:50	2026-08-01 17:08	Night Shift	normal	chat	238	4
T-9022	2026-07-31 21:40	2026-08-02 17:54	Billing	normal	email	27	4
T-9023	2026-08-01 08:20	2026-08-02 21:41	First Line	high	email	21	4
T-9024	2026-08-01 09:53	2026-08-02 13:26	Night Shift	normal	phone	111	5
T-9025	2026-08-01 13:28	2026-08-03 12:42	Billing	high	chat	6	\N
T-9026	2026-08-01 13:32	2026-08-02 13:59	Returns	low	phone	62	4
T-9027	2026-08-01 13:52	2026-08-03 16:13	Billing	high	Partner	10	\N
T-9028	2026-08-01 14:04	2026-08-04 02:13	Partner	urgent	chat	89	\N
T-9029	2026-08-01 14:16	2026-08-03 23:43	Returns	high	email	61	\N
T-9030	2026-08-01 15:04	2026-08-01 21:17	First Line	normal	email	11	1
T-9031	2026-08-01 16:22	2026-08-02 05:28	Returns	normal	email	54	2
T-9032	2026-08-01 20:35	\N	Partner	low	email	63	\N
T-9033	2026-08-02 07:01	2026-08-04 16:37	Returns	normal	chat	102	3
T-9034	2026-08-02 09:33	2026-08-02 19:35	First Line	high	Partner	6	\N
T-9035	2026-08-02 10:35	2026-08-02 21:40	Partner	high	chat	36	5
T-9036	2026-08-02 11:33	2026-08-04 12:17	Open Platform	normal	email	166	5
T-9037	2026-08-02 15:27	2026-08-05 04:07	First Line	normal	chat	22	\N
T-9038	2026-08-02 19:02	2026-08-03 18:25	Returns	urgent	chat	108	1
T-9039	2026-08-02 19:51	2026-08-03 01:34	Open Platform	normal	email	86	5
T-9040	2026-08-02 20:14	2026-08-03 14:55	Billing	urgent	chat	61	4
T-9041	2026-08-02 20:52	2026-08-03 13:05	Night Shift	urgent	email	18	\N
T-9042	2026-08-03 13:16	\N	First Line	low	web form	2	\N
T-9043	2026-08-03 20:09	\N	Returns	normal	web form	49	\N
T-9044	2026-08-03 20:18	2026-08-06 03:28	Open Platform	urgent	phone	175	\N
T-9045	2026-08-04 08:59	2026-08-06 19:11	First Line	low	Partner	13	5
T-9046	2026-08-04 09:31	2026-08-05 05:24	Partner	normal	email	98	5
T-9047	2026-08-04 09:37	2026-08-05 04:02	Night Shift	normal	phone	40	3
T-9048	2026-08-04 10:00	2026-08-06 09:23	Partner	normal	phone	96	5
T-9049	2026-08-04 12:36	2026-08-04 18:01	Billing	normal	email	59	\N
T-9050	2026-08-04 13:50	2026-08-05 19:49	Night Shift	normal	Partner	223	1
T-9051	2026-08-04 13:52	2026-08-05 03:42	Partner	normal	email	128	3
T-9052	2026-08-04 14:42	2026-08-05 17:25	First Line	normal	web form	7	\N
T-9053	2026-08-04 20:54	2026-08-06 12:59	First Line	normal	Partner	28	2
T-9054	2026-08-04 21:05	2026-08-06 04:28	Billing	normal	chat	68	1
T-9055	2026-08-05 10:11	2026-08-05 22:54	Partner	normal	chat	138	2
T-9056	2026-08-05 11:27	2026-08-08 01:48	Open Platform	high	web form	170	1
T-9057	2026-08-05 11:50	2026-08-05 13:35	Open Platform	normal	email	70	2
T-9058	2026-08-05 12:08	2026-08-05 20:10	Partner	high	chat	145	2
T-9059	2026-08-05 16:32	2026-08-07 08:01	First Line	normal	phone	21	\N
T-9060	2026-08-05 18:40	2026-08-07 15:28	Partner	low	email	138	2
T-9061	2026-08-05 19:40	2026-08-07 09:10	Night Shift	normal	chat	34	5
T-9062	2026-08-05 21:25	\N	Partner	low	Partner	112	\N
T-9063	2026-08-06 06:27	2026-08-08 13:55	Returns	normal	Partner	52	2
T-9064	2026-08-06 06:40	2026-08-07 01:57	Partner	normal	chat	194	\N
T-9065	2026-08-06 07:37	2026-08-07 09:52	Billing	normal	phone	17	\N
T-9066	2026-08-06 07:56	2026-08-08 16:38	Open Platform	high	chat	163	5
T-9067	2026-08-06 15:04	2026-08-09 04:43	Night Shift	normal	Partner	87	5
T-9068	2026-08-06 20:20	2026-08-09 07:01	Partner	normal	chat	117	\N
T-9069	2026-08-07 07:18	2026-08-07 16:19	Billing	urgent	email	69	4
T-9070	2026-08-07 08:06	2026-08-09 05:38	First Line	high	Partner	26	\N
T-9071	2026-08-07 12:48	2026-08-09 10:43	Billing	low	phone	57	1
T-9072	2026-08-07 15:56	2026-08-08 08:53	Returns	high	phone	117	\N
T-9073	2026-08-07 18:48	2026-08-09 21:01	Night Shift	normal	email	209	\N
T-9074	2026-08-08 07:26	2026-08-08 09:37	Billing	low	Partner	47	4
T-9075	2026-08-08 07:48	2026-08-10 00:52	Returns	normal	phone	99	4
T-9076	2026-08-08 10:22	2026-08-10 09:31	Night Shift	low	chat	227	\N
T-9077	2026-08-08 10:36	2026-08-09 07:28	Returns	low	phone	85	4
T-9078	2026-08-08 11:08	2026-08-11 04:10	Night Shift	high	Partner	97	\N
T-9079	2026-08-08 11:33	2026-08-08 17:48	Night Shift	low	email	30	3
T-9080	2026-08-08 12:38	2026-08-10 23:46	Returns	low	phone	91	3
T-9081	2026-08-08 14:18	2026-08-08 19:27	Returns	high	email	40	3
T-9082	2026-08-08 18:41	2026-08-10 05:29	First Line	normal	email	6	4
T-9083	2026-08-08 20:32	2026-08-10 11:26	Night Shift	normal	web form	184	4
T-9084	2026-08-09 07:36	2026-08-10 01:51	Partner	low	web form	220	\N
T-9085	2026-08-09 09:23	2026-08-09 12:55	Returns	high	Partner	75	5
T-9086	2026-08-09 11:55	2026-08-11 17:28	Open Platform	normal	email	32	4
T-9087	2026-08-09 12:45	\N	Open Platform	normal	phone	124	\N
T-9088	2026-08-09 14:07	2026-08-09 16:30	First Line	high	chat	3	1
T-9089	2026-08-09 17:31	2026-08-10 21:15	Returns	normal	email	133	2
T-9090	2026-08-10 08:30	2026-08-12 08:22	Billing	low	email	30	4
T-9091	2026-08-10 09:45	2026-08-13 01:09	Night Shift	normal	chat	179	\N
T-9092	2026-08-10 10:28	2026-08-11 05:21	Partner	urgent	phone	66	5
T-9093	2026-08-10 14:54	2026-08-13 07:36	Partner	normal	phone	36	5
T-9094	2026-08-10 16:21	2026-08-12 14:59	First Line	normal	web form	35	3
T-9095	2026-08-10 19:05	2026-08-12 06:03	Billing	low	chat	63	\N
T-9096	2026-08-11 07:52	2026-08-12 23:41	Billing	low	Partner	19	\N
T-9097	2026-08-11 07:57	2026-08-12 22:09	First Line	high	phone	27	4
T-9098	2026-08-11 08:48	2026-08-14 03:05	Night Shift	normal	web form	99	\N
T-9099	2026-08-11 09:04	2026-08-14 02:02	Returns	high	Partner	124	\N
T-9100	2026-08-11 14:27	2026-08-12 14:59	Open Platform	low	phone	88	4
T-9101	2026-08-11 15:29	2026-08-13 21:13	First Line	high	web form	14	1
T-9102	2026-08-11 15:41	2026-08-13 07:05	Billing	urgent	web form	9	4
T-9103	2026-08-11 15:52	2026-08-13 07:37	Returns	normal	email	9	4
T-9104	2026-08-11 18:27	2026-08-14 02:07	Open Platform	low	email	24	4
T-9105	2026-08-11 20:40	2026-08-13 11:35	Open Platform	urgent	email	128	4
T-9106	2026-08-12 09:07	2026-08-13 04:08	Partner	normal	chat	217	4
T-9107	2026-08-12 09:56	2026-08-12 21:57	Night Shift	normal	email	216	4
T-9108	2026-08-12 10:00	2026-08-12 23:07	Partner	high	Partner	59	5
T-9109	2026-08-12 10:55	2026-08-14 03:54	First Line	normal	web form	35	3
T-9110	2026-08-12 15:56	2026-08-15 06:15	Night Shift	urgent	phone	159	3
T-9111	2026-08-12 18:28	2026-08-14 05:10	Open Platform	normal	chat	94	1
T-9112	2026-08-12 18:47	2026-08-14 00:09	First Line	normal	Partner	28	3
T-9113	2026-08-12 19:55	2026-08-13 11:09	First Line	low	email	14	\N
T-9114	2026-08-12 20:28	2026-08-14 17:56	Billing	normal	email	16	5
T-9115	2026-08-12 20:29	2026-08-13 10:17	Returns	low	email	103	\N
T-9116	2026-08-13 08:06	2026-08-16 00:21	Open Platform	normal	Partner	128	\N
T-9117	2026-08-13 16:07	2026-08-15 06:18	Billing	urgent	email	45	1
T-9118	2026-08-13 16:27	2026-08-16 01:21	Open Platform	normal	phone	160	5
T-9119	2026-08-14 09:24	2026-08-15 11:12	Night Shift	high	chat	53	4
T-9120	2026-08-14 16:30	2026-08-17 05:15	First Line	urgent	chat	13	1
T-9121	2026-08-14 17:52	2026-08-17 10:33	Partner	low	web form	57	5
T-9122	2026-08-14 17:53	2026-08-17 00:06	First Line	high	phone	3	4
T-9123	2026-08-14 18:51	2026-08-15 19:08	Night Shift	high	Partner	77	4
T-9124	2026-08-14 19:28	2026-08-16 09:50	Billing	normal	chat	55	4
T-9125	2026-08-14 20:13	2026-08-17 13:15	First Line	high	chat	4	3
T-9126	2026-08-14 21:00	2026-08-16 00:53	First Line	urgent	Partner	34	4
T-9127	2026-08-15 06:20	2026-08-17 18:21	Night Shift	high	chat	194	5
T-9128	2026-08-15 06:46	2026-08-17 05:48	First Line	low	chat	30	\N
T-9129	2026-08-15 12:15	2026-08-16 23:57	Open Platform	high	web form	140	5
T-9130	2026-08-15 14:18	2026-08-15 19:49	Open Platform	urgent	Partner	12	5
T-9131	2026-08-15 15:30	2026-08-18 01:30	Returns	normal	email	93	5
T-9132	2026-08-15 15:53	2026-08-17 14:41	Night Shift	normal	email	88	2
T-9133	2026-08-15 17:43	\N	Billing	low	phone	60	\N
T-9134	2026-08-15 17:45	2026-08-16 20:18	Night Shift	high	web form	228	5
T-9135	2026-08-15 18:03	2026-08-17 00:47	Open Platform	high	email	136	5
T-9136	2026-08-15 18:06	2026-08-17 20:36	Night Shift	normal	phone	96	4
T-9137	2026-08-15 19:44	2026-08-17 19:28	Open Platform	urgent	phone	76	5
T-9138	2026-08-16 08:27	2026-08-18 09:40	Billing	urgent	phone	78	2
T-9139	2026-08-16 10:19	2026-08-17 21:53	Partner	low	web form	76	5
T-9140	2026-08-16 13:18	2026-08-17 21:09	Partner	normal	phone	94	2
T-9141	2026-08-16 16:57	2026-08-17 19:04	First Line	low	chat	10	5
T-9142	2026-08-16 17:29	2026-08-18 22:43	Night Shift	normal	phone	256	5
T-9143	2026-08-16 20:10	2026-08-17 04:12	Open Platform	high	email	12	5
T-9144	2026-08-16 20:25	2026-08-19 04:45	First Line	high	Partner	33	4
T-9145	2026-08-16 21:31	2026-08-18 13:39	Partner	normal	Partner	195	4
T-9146	2026-08-17 08:29	2026-08-17 15:51	Open Platform	urgent	Partner	102	5
T-9147	2026-08-17 09:12	2026-08-18 02:10	Night Shift	urgent	email	269	4
T-9148	2026-08-17 09:59	2026-08-19 13:57	Returns	high	chat	55	3
T-9149	2026-08-17 12:08	2026-08-19 15:52	Open Platform	normal	phone	148	1
T-9150	2026-08-17 13:24	2026-08-18 02:37	Open Platform	low	web form	112	4
T-9151	2026-08-17 15:24	2026-08-19 07:36	Returns	normal	chat	79	4
T-9152	2026-08-17 17:47	2026-08-19 14:42	Returns	normal	Partner	33	5
T-9153	2026-08-17 19:25	2026-08-19 07:08	Partner	normal	phone	128	5
T-9154	2026-08-17 21:27	2026-08-19 19:10	First Line	urgent	email	4	4
T-9155	2026-08-17 21:28	2026-08-20 08:10	Billing	urgent	phone	14	4
T-9156	2026-08-18 09:59	2026-08-20 10:37	Billing	normal	web form	47	5
T-9157	2026-08-18 13:19	2026-08-20 13:50	First Line	urgent	chat	33	4
T-9158	2026-08-18 15:00	2026-08-19 02:03	Open Platform	low	web form	168	3
T-9159	2026-08-18 18:25	2026-08-19 09:46	Partner	normal	email	131	1
T-9160	2026-08-19 08:04	2026-08-21 12:12	Partner	high	Partner	117	\N
T-9161	2026-08-19 08:37	2026-08-19 19:10	Partner	high	Partner	124	5
T-9162	2026-08-19 09:06	2026-08-20 17:22	Returns	high	phone	67	5
T-9163	2026-08-19 10:50	2026-08-21 14:05	Billing	urgent	phone	87	4
T-9164	2026-08-19 13:15	2026-08-22 01:26	Returns	high	phone	64	3
T-9165	2026-08-19 14:09	2026-08-21 11:01	Night Shift	normal	email	98	5
T-9166	2026-08-19 15:07	2026-08-19 18:22	First Line	normal	email	29	\N
T-9167	2026-08-19 18:50	2026-08-22 00:26	Partner	normal	Partner	59	5
T-9168	2026-08-19 20:40	2026-08-20 01:48	Returns	normal	chat	40	3
T-9169	2026-08-19 21:30	2026-08-20 16:00	Partner	urgent	chat	174	4
T-9170	2026-08-20 07:59	2026-08-20 22:25	First Line	normal	email	2	5
T-9171	2026-08-20 08:24	2026-08-21 17:12	Returns	normal	email	91	1
T-9172	2026-08-20 08:46	2026-08-21 05:22	Partner	urgent	phone	40	4
T-9173	2026-08-20 10:45	2026-08-20 14:44	Partner	normal	phone	30	5
T-9174	2026-08-20 12:33	2026-08-21 17:02	Returns	urgent	web form	93	2
T-9175	2026-08-20 17:39	2026-08-23 11:59	Returns	normal	phone	76	1
T-9176	2026-08-20 21:34	2026-08-22 04:05	Night Shift	urgent	email	35	\N
T-9177	2026-08-21 06:17	2026-08-22 04:49	Returns	normal	phone	82	4
T-9178	2026-08-21 07:08	2026-08-23 14:41	First Line	urgent	email	24	5
T-9179	2026-08-21 07:59	2026-08-23 13:39	Open Platform	high	email	69	\N
T-9180	2026-08-21 13:00	2026-08-24 08:12	Partner	normal	web form	55	5
T-9181	2026-08-21 13:25	2026-08-24 04:38	Returns	high	chat	124	5
T-9182	2026-08-21 13:49	2026-08-22 20:27	Night Shift	urgent	web form	27	2
T-9183	2026-08-21 15:11	2026-08-21 21:41	Partner	normal	web form	107	2
T-9184	2026-08-21 18:46	2026-08-24 05:14	Open Platform	high	email	113	4
T-9185	2026-08-21 18:48	2026-08-24 07:23	Returns	high	phone	40	4
T-9186	2026-08-21 19:55	2026-08-23 13:55	Night Shift	normal	email	177	4
T-9187	2026-08-22 11:40	2026-08-25 05:03	First Line	normal	web form	10	4
T-9188	2026-08-22 11:57	2026-08-23 11:03	Open Platform	urgent	email	89	4
T-9189	2026-08-22 17:53	2026-08-22 19:49	Returns	low	chat	94	4
T-9190	2026-08-22 18:26	2026-08-24 09:01	Billing	normal	email	78	\N
T-9191	2026-08-22 20:52	2026-08-25 16:12	Partner	high	web form	219	\N
T-9192	2026-08-23 06:48	2026-08-24 00:55	Open Platform	normal	phone	69	1
T-9193	2026-08-23 09:35	2026-08-25 12:06	First Line	low	chat	26	4
T-9194	2026-08-23 10:40	2026-08-23 13:41	Returns	normal	phone	32	1
T-9195	2026-08-23 10:49	2026-08-24 04:24	Partner	urgent	email	24	5
T-9196	2026-08-23 10:59	2026-08-23 13:18	Open Platform	normal	email	102	1
T-9197	2026-08-23 11:02	2026-08-23 16:05	Night Shift	normal	phone	51	4
T-9198	2026-08-23 11:22	2026-08-24 18:33	Open Platform	high	web form	138	4
T-9199	2026-08-23 16:25	2026-08-25 06:32	Partner	low	phone	225	4
T-9200	2026-08-23 17:36	2026-08-25 22:54	Partner	normal	email	139	2
T-9201	2026-08-24 06:15	2026-08-24 07:16	First Line	high	phone	16	4
T-9202	2026-08-24 06:39	2026-08-26 14:49	First Line	urgent	web form	11	\N
T-9203	2026-08-24 06:48	2026-08-25 13:27	Open Platform	normal	web form	132	4
T-9204	2026-08-24 07:55	2026-08-25 01:50	Partner	normal	Partner	32	1
T-9205	2026-08-24 08:32	2026-08-25 12:08	Returns	high	email	132	1
T-9206	2026-08-24 10:18	2026-08-26 21:09	Returns	urgent	web form	13	5
T-9207	2026-08-24 12:13	2026-08-24 12:58	Open Platform	normal	phone	16	4
T-9208	2026-08-24 12:45	2026-08-26 19:21	Night Shift	normal	email	238	5
T-9209	2026-08-24 20:33	2026-08-26 17:49	Open Platform	normal	email	12	5
T-9210	2026-08-25 06:09	2026-08-25 19:22	Partner	normal	web form	86	4
T-9211	2026-08-25 09:46	2026-08-26 17:14	Open Platform	normal	email	123	2
T-9212	2026-08-25 10:32	2026-08-25 21:07	Partner	urgent	email	103	3
T-9213	2026-08-25 10:54	2026-08-26 06:48	Partner	normal	email	105	1
T-9214	2026-08-25 14:17	2026-08-26 05:17	Partner	low	web form	71	5
T-9215	2026-08-25 14:22	\N	Night Shift	low	web form	270	\N
T-9216	2026-08-25 17:22	2026-08-27 17:16	First Line	urgent	email	36	3
T-9217	2026-08-26 07:13	2026-08-28 05:29	Returns	normal	Partner	129	2
T-9218	2026-08-26 07:29	2026-08-28 08:41	Partner	high	phone	172	4
T-9219	2026-08-26 09:41	2026-08-27 05:54	First Line	high	chat	22	5
T-9220	2026-08-26 11:18	2026-08-28 16:49	Partner	normal	phone	112	\N
T-9221	2026-08-26 12:09	2026-08-27 02:30	First Line	normal	email	25	3
T-9222	2026-08-26 12:36	2026-08-28 09:17	Partner	normal	web form	225	5
T-9223	2026-08-26 12:46	\N	Partner	normal	Partner	129	\N
T-9224	2026-08-26 13:24	2026-08-27 04:15	Partner	low	email	45	\N
T-9225	2026-08-26 17:43	2026-08-28 10:46	Billing	high	web form	66	3
T-9226	2026-08-26 19:35	2026-08-29 16:02	Night Shift	high	web form	198	4
T-9227	2026-08-26 20:39	2026-08-27 14:38	Returns	urgent	email	58	2
T-9228	2026-08-27 06:46	2026-08-29 03:57	Billing	normal	chat	12	2
T-9229	2026-08-27 08:28	2026-08-29 11:19	Night Shift	urgent	email	230	2
T-9230	2026-08-27 09:15	2026-08-29 11:17	Night Shift	normal	Partner	170	5
T-9231	2026-08-27 11:54	2026-08-29 12:05	First Line	normal	web form	4	\N
T-9232	2026-08-27 13:45	2026-08-28 03:44	Returns	normal	phone	78	5
T-9233	2026-08-27 14:00	2026-08-28 23:09	Billing	low	Partner	48	4
T-9234	2026-08-27 15:42	2026-08-30 08:35	Open Platform	normal	email	73	4
T-9235	2026-08-27 17:25	2026-08-28 05:55	First Line	normal	phone	18	\N
T-9236	2026-08-27 18:06	2026-08-30 01:12	Returns	normal	Partner	90	5
T-9237	2026-08-27 19:06	2026-08-28 15:29	First Line	normal	email	19	5
T-9238	2026-08-28 07:02	2026-08-29 05:22	Night Shift	normal	chat	159	4
T-9239	2026-08-28 10:49	2026-08-29 19:56	Partner	normal	Partner	204	4
T-9240	2026-08-28 16:42	2026-08-29 22:06	First Line	normal	email	20	5
T-9241	2026-08-28 17:04	2026-08-30 01:06	Open Platform	low	phone	48	5
T-9242	2026-08-28 17:23	\N	Returns	urgent	Partner	72	\N
T-9243	2026-08-28 20:03	2026-08-29 16:53	Open Platform	urgent	Partner	135	3
T-9244	2026-08-29 12:49	2026-08-29 13:32	Returns	urgent	email	12	4
T-9245	2026-08-29 12:57	2026-08-29 21:35	Open Platform	urgent	Partner	25	2
T-9246	2026-08-29 15:15	2026-09-01 05:05	First Line	high	email	9	4
T-9247	2026-08-29 16:36	2026-08-31 17:50	Returns	normal	Partner	11	\N
T-9248	2026-08-29 19:41	2026-08-31 19:37	Open Platform	high	Partner	49	4
T-9249	2026-08-30 09:09	2026-09-01 10:26	Billing	urgent	web form	82	\N
T-9250	2026-08-30 14:22	2026-09-01 09:24	Billing	urgent	chat	68	2
T-9251	2026-08-30 16:52	2026-09-01 05:35	Night Shift	normal	Partner	67	5
T-9252	2026-08-31 07:06	2026-09-01 17:45	Returns	urgent	email	116	1
T-9253	2026-08-31 07:31	2026-09-02 04:04	Billing	normal	chat	27	5
T-9254	2026-08-31 11:01	2026-09-01 14:17	Partner	low	phone	63	5
T-9255	2026-08-31 16:13	2026-09-01 07:23	Billing	normal	phone	44	\N
T-9256	2026-08-31 21:23	2026-09-03 07:57	Billing	normal	phone	15	1
T-9257	2026-09-01 06:56	2026-09-02 14:18	Billing	urgent	phone	27	2
T-9258	2026-09-01 09:03	2026-09-01 13:54	Returns	normal	web form	59	5
T-9259	2026-09-01 09:29	2026-09-01 12:52	Open Platform	normal	web form	53	\N
T-9260	2026-09-01 10:01	2026-09-03 12:42	Returns	low	Partner	36	\N
T-9261	2026-09-01 10:07	2026-09-03 14:55	Returns	normal	web form	32	1
T-9262	2026-09-01 12:53	2026-09-03 13:52	First Line	normal	chat	10	5
T-9263	2026-09-01 13:44	2026-09-03 02:23	Returns	urgent	phone	48	5
T-9264	2026-09-01 14:56	2026-09-02 06:13	Open Platform	normal	Partner	85	2
T-9265	2026-09-01 18:57	2026-09-02 18:40	Night Shift	low	Partner	54	4
T-9266	2026-09-01 19:40	2026-09-02 02:37	Open Platform	high	email	113	\N
T-9267	2026-09-02 11:23	2026-09-05 08:32	Night Shift	low	chat	196	2
T-9268	2026-09-02 12:50	2026-09-05 03:02	Billing	normal	Partner	83	2
T-9269	2026-09-02 13:14	2026-09-02 22:44	Night Shift	urgent	web form	59	4
T-9270	2026-09-02 13:32	2026-09-04 20:22	Returns	high	Partner	95	4
T-9271	2026-09-02 15:12	2026-09-04 01:49	Partner	normal	Partner	105	\N
T-9272	2026-09-02 15:50	2026-09-03 14:59	Night Shift	low	email	133	5
T-9273	2026-09-02 21:32	2026-09-04 09:15	Partner	high	web form	135	4
T-9274	2026-09-03 07:12	2026-09-03 11:22	Partner	normal	chat	30	5
T-9275	2026-09-03 09:05	2026-09-05 03:36	Partner	low	phone	88	\N
T-9276	2026-09-03 15:41	2026-09-06 06:15	Partner	normal	email	175	4
T-9277	2026-09-03 16:19	2026-09-05 15:17	Billing	low	email	36	4
T-9278	2026-09-03 19:01	2026-09-04 22:19	Open Platform	normal	phone	168	3
T-9279	2026-09-03 19:41	2026-09-05 16:00	First Line	urgent	phone	10	\N
T-9280	2026-09-04 08:48	2026-09-05 10:18	Returns	high	chat	94	3
T-9281	2026-09-04 09:35	2026-09-05 12:47	First Line	low	web form	21	3
T-9282	2026-09-04 11:20	2026-09-05 03:41	Returns	high	Partner	130	5
T-9283	2026-09-04 12:18	2026-09-07 06:03	Partner	urgent	phone	68	1
T-9284	2026-09-04 13:31	2026-09-07 00:01	First Line	normal	chat	33	\N
T-9285	2026-09-05 06:20	2026-09-06 20:36	Returns	normal	chat	113	\N
T-9286	2026-09-05 06:37	2026-09-07 16:16	Night Shift	normal	web form	109	4
T-9287	2026-09-05 06:48	2026-09-06 10:40	First Line	urgent	phone	2	3
T-9288	2026-09-05 09:45	2026-09-07 12:56	Open Platform	normal	web form	158	5
T-9289	2026-09-05 10:12	2026-09-06 02:01	Partner	low	phone	197	\N
T-9290	2026-09-05 12:49	2026-09-06 14:17	Partner	normal	email	93	1
T-9291	2026-09-05 17:10	2026-09-07 19:06	Returns	low	phone	121	4
T-9292	2026-09-05 17:36	2026-09-08 02:17	Returns	normal	phone	115	\N
T-9293	2026-09-05 19:38	2026-09-07 18:55	Partner	urgent	phone	111	1
T-9294	2026-09-05 19:40	2026-09-06 20:45	Partner	urgent	phone	33	\N
T-9295	2026-09-06 06:10	2026-09-07 10:35	Open Platform	normal	Partner	80	4
T-9296	2026-09-06 06:21	2026-09-08 20:01	Partner	normal	phone	155	4
T-9297	2026-09-06 08:43	2026-09-09 00:59	Night Shift	high	web form	120	1
T-9298	2026-09-06 08:58	2026-09-06 19:36	Open Platform	low	Partner	60	4
T-9299	2026-09-06 09:00	2026-09-08 23:00	First Line	normal	Partner	9	2
T-9300	2026-09-06 10:46	\N	Partner	normal	email	51	\N
T-9301	2026-09-06 11:29	2026-09-08 17:47	Returns	normal	chat	46	4
T-9302	2026-09-06 12:48	2026-09-08 19:50	Open Platform	normal	Partner	24	\N
T-9303	2026-09-06 16:36	2026-09-09 12:07	Night Shift	normal	chat	166	\N
T-9304	2026-09-06 17:41	2026-09-09 05:50	Night Shift	urgent	chat	81	3
T-9305	2026-09-06 19:19	2026-09-08 00:53	Billing	normal	web form	39	4
T-9306	2026-09-07 10:35	2026-09-09 21:27	First Line	normal	phone	3	4
T-9307	2026-09-07 12:49	2026-09-08 22:00	Open Platform	urgent	phone	52	1
T-9308	2026-09-07 13:27	2026-09-07 18:01	Billing	high	email	43	2
T-9309	2026-09-07 15:42	2026-09-08 17:11	Billing	normal	phone	42	4
T-9310	2026-09-07 17:51	2026-09-08 23:49	Open Platform	normal	email	21	4
T-9311	2026-09-07 20:40	2026-09-08 09:00	Partner	high	web form	189	5
T-9312	2026-09-07 20:57	2026-09-09 02:03	Open Platform	urgent	chat	19	\N
T-9313	2026-09-08 07:38	2026-09-10 00:17	First Line	normal	email	24	\N
T-9314	2026-09-08 09:39	2026-09-08 15:05	Partner	high	chat	132	4
T-9315	2026-09-08 10:53	2026-09-09 14:15	Partner	low	web form	169	3
T-9316	2026-09-08 14:12	2026-09-09 21:11	Night Shift	normal	chat	51	3
T-9317	2026-09-08 14:58	2026-09-09 23:01	Partner	normal	Partner	108	5
T-9318	2026-09-08 16:14	2026-09-09 22:18	Billing	normal	web form	54	\N
T-9319	2026-09-08 17:30	2026-09-11 01:44	Open Platform	high	web form	175	\N
T-9320	2026-09-08 18:36	2026-09-09 07:51	First Line	urgent	chat	25	3
T-9321	2026-09-08 20:05	2026-09-10 17:30	First Line	urgent	Partner	8	\N
T-9322	2026-09-08 21:38	2026-09-10 04:51	Billing	high	chat	71	5
T-9323	2026-09-09 08:38	2026-09-10 11:22	Night Shift	low	chat	153	\N
T-9324	2026-09-09 08:52	2026-09-10 00:40	Returns	high	email	57	3
T-9325	2026-09-09 10:05	2026-09-11 07:00	Returns	urgent	chat	43	5
T-9326	2026-09-09 10:50	2026-09-09 11:42	Returns	normal	email	17	2
T-9327	2026-09-09 12:15	2026-09-12 04:48	First Line	normal	chat	10	5
T-9328	2026-09-09 15:36	2026-09-11 11:51	Billing	low	email	38	5
T-9329	2026-09-09 17:23	2026-09-10 15:10	First Line	normal	chat	35	3
T-9330	2026-09-09 18:23	2026-09-11 11:58	First Line	urgent	chat	11	5
T-9331	2026-09-09 21:07	2026-09-11 21:27	First Line	low	email	24	\N
T-9332	2026-09-10 07:15	\N	Open Platform	normal	chat	154	\N
T-9333	2026-09-10 11:35	2026-09-12 19:51	Billing	urgent	chat	24	4
T-9334	2026-09-10 14:09	2026-09-11 21:42	First Line	normal	phone	26	\N
T-9335	2026-09-10 14:38	2026-09-11 14:55	Open Platform	normal	email	46	4
T-9336	2026-09-10 16:14	2026-09-11 22:42	Night Shift	high	email	256	4
T-9337	2026-09-10 16:18	2026-09-13 04:08	Open Platform	normal	email	56	\N
T-9338	2026-09-10 19:11	2026-09-11 15:45	Open Platform	high	chat	141	3
T-9339	2026-09-10 21:11	2026-09-13 08:13	First Line	urgent	email	30	5
T-9340	2026-09-10 21:14	2026-09-13 09:11	First Line	urgent	Partner	26	\N
T-9341	2026-09-10 21:40	2026-09-13 09:59	Open Platform	urgent	email	108	\N
T-9342	2026-09-11 07:57	2026-09-12 21:34	First Line	low	email	6	5
T-9343	2026-09-11 12:25	2026-09-13 17:56	Billing	normal	chat	51	4
T-9344	2026-09-11 12:28	2026-09-12 03:59	Partner	normal	web form	192	\N
T-9345	2026-09-11 14:05	2026-09-13 14:59	Returns	normal	email	86	\N
T-9346	2026-09-11 14:38	2026-09-13 20:49	Open Platform	normal	Partner	153	1
T-9347	2026-09-11 18:13	2026-09-13 10:54	Open Platform	high	web form	154	3
T-9348	2026-09-11 20:07	2026-09-13 06:26	Returns	normal	Partner	69	2
T-9349	2026-09-12 07:53	2026-09-12 18:18	Open Platform	high	phone	139	5
T-9350	2026-09-12 09:26	2026-09-15 01:53	Partner	normal	email	67	3
T-9351	2026-09-12 10:29	2026-09-12 21:05	Returns	normal	chat	33	5
T-9352	2026-09-12 13:54	2026-09-14 08:54	Billing	low	chat	42	1
T-9353	2026-09-13 11:59	2026-09-15 01:01	First Line	high	Partner	2	\N
T-9354	2026-09-13 15:33	2026-09-15 17:22	Returns	normal	phone	87	\N
T-9355	2026-09-13 17:05	2026-09-15 19:47	Billing	low	web form	15	\N
T-9356	2026-09-14 06:27	2026-09-16 06:34	Night Shift	urgent	email	189	5
T-9357	2026-09-14 09:10	2026-09-16 08:25	Night Shift	low	web form	172	2
T-9358	2026-09-14 10:35	2026-09-16 19:33	Open Platform	normal	email	61	\N
T-9359	2026-09-14 12:46	2026-09-16 12:24	First Line	normal	Partner	9	1
T-9360	2026-09-14 13:36	2026-09-14 18:15	Night Shift	normal	Partner	48	5
T-9361	2026-09-14 15:16	2026-09-16 12:33	Returns	normal	email	124	\N
T-9362	2026-09-14 15:17	2026-09-17 11:10	Billing	urgent	phone	89	1
T-9363	2026-09-14 17:44	2026-09-15 02:39	Open Platform	normal	chat	108	3
T-9364	2026-09-14 18:29	2026-09-17 02:24	Billing	urgent	Partner	13	\N
T-9365	2026-09-15 07:04	2026-09-15 09:57	Returns	normal	email	71	\N
T-9366	2026-09-15 09:54	2026-09-16 22:39	Returns	low	email	42	2
T-9367	2026-09-15 09:55	2026-09-16 12:43	Returns	high	chat	88	5
T-9368	2026-09-15 11:23	2026-09-16 20:11	First Line	urgent	web form	20	5
T-9369	2026-09-15 12:29	2026-09-16 06:51	Billing	normal	phone	63	4
T-9370	2026-09-15 13:51	2026-09-17 20:03	First Line	normal	web form	30	3
T-9371	2026-09-15 16:49	2026-09-18 10:15	Partner	normal	web form	184	2
T-9372	2026-09-16 13:14	2026-09-16 15:07	Open Platform	normal	phone	60	\N
T-9373	2026-09-16 16:11	2026-09-16 22:08	First Line	low	chat	26	3
T-9374	2026-09-16 21:31	2026-09-19 10:58	Returns	normal	email	63	5
T-9375	2026-09-17 08:03	2026-09-18 17:00	Returns	urgent	email	98	4
T-9376	2026-09-17 08:12	2026-09-17 16:45	Partner	urgent	web form	223	5
T-9377	2026-09-17 09:10	2026-09-17 13:10	First Line	normal	web form	30	3
T-9378	2026-09-17 10:21	2026-09-19 10:50	Open Platform	urgent	phone	115	\N
T-9379	2026-09-17 14:10	2026-09-19 09:45	Billing	normal	chat	58	3
T-9380	2026-09-17 17:44	2026-09-18 11:54	Open Platform	normal	email	43	\N
T-9381	2026-09-18 13:31	2026-09-18 19:37	Billing	high	chat	48	5
T-9382	2026-09-18 16:58	2026-09-19 04:57	Returns	normal	email	135	2
T-9383	2026-09-18 21:23	2026-09-19 11:29	Open Platform	normal	phone	97	5
T-9384	2026-09-19 08:49	2026-09-20 07:29	Partner	normal	email	106	\N
T-9385	2026-09-19 09:35	2026-09-21 20:58	Billing	normal	phone	82	\N
T-9386	2026-09-19 12:00	2026-09-21 15:46	Night Shift	normal	web form	135	\N
T-9387	2026-09-19 14:15	2026-09-20 05:38	Returns	low	email	17	\N
T-9388	2026-09-19 15:11	2026-09-20 10:09	Open Platform	normal	Partner	38	5
T-9389	2026-09-19 15:18	2026-09-21 22:52	Billing	urgent	email	48	3
T-9390	2026-09-19 16:08	2026-09-21 19:38	Billing	urgent	email	40	5
T-9391	2026-09-19 17:48	2026-09-20 07:17	Night Shift	urgent	Partner	193	2
T-9392	2026-09-19 21:28	2026-09-22 04:40	Open Platform	low	Partner	121	\N
T-9393	2026-09-20 06:14	2026-09-20 18:42	Billing	urgent	web form	51	5
T-9394	2026-09-20 06:51	2026-09-20 20:36	Billing	normal	web form	54	5
T-9395	2026-09-20 10:59	2026-09-22 20:10	First Line	normal	chat	23	4
T-9396	2026-09-20 12:22	2026-09-22 17:22	Billing	normal	email	47	1
T-9397	2026-09-20 18:59	2026-09-21 00:57	Returns	normal	web form	9	4
T-9398	2026-09-21 07:12	2026-09-22 08:24	Open Platform	normal	phone	67	5
T-9399	2026-09-21 07:39	2026-09-23 09:35	Open Platform	low	chat	89	4
T-9400	2026-09-21 09:56	2026-09-22 01:31	First Line	normal	email	26	2
T-9401	2026-09-21 10:11	2026-09-21 14:03	Open Platform	normal	web form	121	3
T-9402	2026-09-21 14:38	2026-09-24 07:55	Open Platform	normal	web form	112	4
T-9403	2026-09-21 16:26	2026-09-22 05:49	Open Platform	normal	web form	34	2
T-9404	2026-09-21 17:36	2026-09-23 04:45	Open Platform	normal	phone	35	5
T-9405	2026-09-21 19:39	2026-09-24 04:16	Returns	urgent	web form	81	5
T-9406	2026-09-21 20:22	2026-09-23 17:40	Night Shift	low	web form	167	\N
T-9407	2026-09-21 21:02	2026-09-23 11:01	First Line	normal	phone	31	5
T-9408	2026-09-22 09:12	2026-09-22 12:39	First Line	urgent	email	29	2
T-9409	2026-09-22 09:57	2026-09-24 15:58	Night Shift	normal	email	125	\N
T-9410	2026-09-22 10:20	2026-09-23 10:31	Night Shift	urgent	email	161	2
T-9411	2026-09-22 11:03	2026-09-25 04:01	Night Shift	normal	web form	35	\N
T-9412	2026-09-22 15:29	2026-09-24 08:50	Billing	high	Partner	56	5
T-9413	2026-09-22 19:59	2026-09-24 09:24	First Line	normal	email	6	\N
T-9414	2026-09-23 06:10	2026-09-24 19:08	Night Shift	low	Partner	38	5
T-9415	2026-09-23 08:34	2026-09-25 04:12	Billing	normal	Partner	37	1
T-9416	2026-09-23 09:25	2026-09-23 15:49	Partner	normal	chat	42	2
T-9417	2026-09-23 14:49	2026-09-25 01:46	Night Shift	urgent	email	265	4
T-9418	2026-09-23 18:21	2026-09-26 04:47	Billing	normal	Partner	74	3
T-9419	2026-09-24 15:09	2026-09-25 23:51	Returns	high	phone	24	1
T-9420	2026-09-24 15:44	2026-09-25 21:33	Billing	high	email	11	\N
T-9421	2026-09-24 18:58	2026-09-26 20:17	Open Platform	normal	chat	157	5
T-9422	2026-09-25 08:06	2026-09-26 08:49	First Line	normal	email	35	3
T-9423	2026-09-25 09:14	2026-09-25 13:48	Billing	normal	email	47	\N
T-9424	2026-09-25 09:23	2026-09-25 11:29	Billing	normal	chat	48	\N
T-9425	2026-09-25 09:45	2026-09-27 18:04	Night Shift	normal	Partner	123	1
T-9426	2026-09-25 10:20	2026-09-27 18:00	Night Shift	normal	web form	249	4
T-9427	2026-09-25 15:22	2026-09-27 09:42	First Line	low	phone	17	4
T-9428	2026-09-25 18:33	2026-09-26 11:09	Partner	low	Partner	159	2
T-9429	2026-09-25 18:58	2026-09-27 16:42	Open Platform	high	chat	82	\N
T-9430	2026-09-25 19:39	2026-09-27 17:31	Returns	normal	Partner	99	3
T-9431	2026-09-25 21:33	2026-09-27 15:28	First Line	low	Partner	17	4
T-9432	2026-09-26 07:41	2026-09-28 04:38	First Line	normal	Partner	20	5
T-9433	2026-09-26 08:33	2026-09-26 23:40	Returns	low	email	40	4
T-9434	2026-09-26 10:27	2026-09-27 00:33	First Line	normal	web form	32	\N
T-9435	2026-09-26 12:54	2026-09-28 05:22	Partner	urgent	chat	80	\N
T-9436	2026-09-26 15:13	2026-09-27 05:41	Open Platform	high	chat	49	1
T-9437	2026-09-27 10:19	2026-09-28 03:56	Billing	low	Partner	64	5
T-9438	2026-09-27 11:06	\N	Night Shift	normal	email	147	\N
T-9439	2026-09-27 16:56	2026-09-28 16:13	Night Shift	high	Partner	18	\N
T-9440	2026-09-28 06:56	2026-09-28 18:51	First Line	high	chat	28	3
T-9441	2026-09-28 08:04	2026-09-29 18:34	Night Shift	normal	email	215	\N
T-9442	2026-09-28 12:34	2026-09-30 00:09	Night Shift	urgent	chat	73	4
T-9443	2026-09-28 14:40	2026-09-29 02:02	First Line	normal	phone	35	5
T-9444	2026-09-28 19:49	2026-09-30 13:24	Open Platform	low	phone	19	4
T-9445	2026-09-28 21:08	2026-09-30 21:37	Open Platform	normal	email	24	5
T-9446	2026-09-29 07:07	2026-10-01 14:30	Open Platform	normal	email	97	4
T-9447	2026-09-29 13:52	2026-10-01 12:41	Open Platform	normal	Partner	43	\N
T-9448	2026-09-29 14:21	2026-10-01 09:23	Night Shift	low	Partner	63	5
T-9449	2026-09-29 14:55	2026-10-02 05:24	First Line	low	email	10	4
T-9450	2026-09-29 15:03	2026-09-29 18:40	Billing	normal	Partner	40	1
T-9451	2026-09-29 15:20	2026-09-30 11:17	First Line	normal	phone	29	\N
T-9452	2026-09-29 16:27	2026-10-01 10:27	Open Platform	urgent	Partner	78	\N
T-9453	2026-09-29 16:40	2026-10-01 19:00	First Line	urgent	phone	18	4
T-9454	2026-09-29 18:42	2026-09-30 20:38	First Line	normal	email	12	1
T-9455	2026-09-30 07:41	2026-10-01 01:39	Billing	urgent	phone	33	3
T-9456	2026-09-30 08:02	2026-10-01 14:15	Night Shift	low	email	48	\N
T-9457	2026-09-30 09:30	2026-10-01 15:23	First Line	high	chat	28	\N
T-9458	2026-09-30 11:10	2026-10-01 07:39	Billing	high	Partner	56	\N
T-9459	2026-09-30 12:33	2026-10-03 02:17	First Line	high	email	6	4
T-9460	2026-09-30 12:51	2026-10-02 09:29	Billing	urgent	Partner	28	3
T-9461	2026-09-30 12:54	2026-10-01 18:30	Returns	normal	email	89	4
T-9462	2026-09-30 14:55	2026-10-02 08:25	Open Platform	high	web form	168	4
T-9463	2026-09-30 15:52	2026-10-03 04:57	Night Shift	low	web form	132	4
T-9464	2026-09-30 18:59	2026-10-02 15:10	Billing	normal	chat	71	\N
T-9465	2026-10-01 06:19	2026-10-01 15:49	Open Platform	normal	email	90	5
T-9466	2026-10-01 09:33	2026-10-03 13:54	Partner	high	email	56	4
T-9467	2026-10-01 11:34	2026-10-03 10:22	Billing	normal	Partner	59	5
T-9468	2026-10-01 15:55	2026-10-03 16:39	Partner	normal	email	21	4
T-9469	2026-10-01 16:49	2026-10-03 00:30	Returns	normal	email	112	1
T-9470	2026-10-01 18:22	2026-10-02 14:35	Billing	low	email	54	3
T-9471	2026-10-02 09:57	2026-10-03 18:32	Partner	normal	web form	138	\N
T-9472	2026-10-02 13:07	2026-10-02 20:10	Night Shift	high	email	45	3
T-9473	2026-10-02 14:40	2026-10-05 06:30	Returns	high	Partner	20	5
T-9474	2026-10-02 16:35	2026-10-03 02:19	Night Shift	normal	Partner	67	5
T-9475	2026-10-02 18:18	2026-10-03 22:17	Billing	normal	web form	66	\N
T-9476	2026-10-02 20:45	2026-10-04 13:56	First Line	urgent	chat	17	5
T-9477	2026-10-03 06:32	2026-10-03 17:42	Open Platform	high	email	99	3
T-9478	2026-10-03 06:35	2026-10-04 09:47	Returns	low	email	64	\N
T-9479	2026-10-03 12:09	2026-10-06 00:07	First Line	normal	Partner	32	5
T-9480	2026-10-03 14:14	2026-10-04 20:34	Returns	normal	email	27	4
T-9481	2026-10-03 15:57	2026-10-05 15:42	Billing	urgent	phone	29	3
T-9482	2026-10-04 08:56	2026-10-05 18:43	Partner	high	email	225	\N
T-9483	2026-10-04 10:32	2026-10-05 18:47	Night Shift	urgent	chat	74	1
T-9484	2026-10-04 13:15	2026-10-05 12:33	Partner	normal	email	192	5
T-9485	2026-10-04 14:01	2026-10-05 05:31	First Line	normal	chat	9	3
T-9486	2026-10-04 19:13	2026-10-07 06:16	Night Shift	normal	phone	160	1
T-9487	2026-10-04 21:04	2026-10-06 15:02	Night Shift	low	phone	136	5
T-9488	2026-10-05 07:27	2026-10-06 21:12	Partner	normal	email	144	5
T-9489	2026-10-05 10:17	2026-10-06 01:50	Open Platform	normal	phone	84	4
T-9490	2026-10-05 10:55	2026-10-06 09:35	Night Shift	high	email	82	5
T-9491	2026-10-06 08:46	2026-10-08 17:58	Open Platform	normal	Partner	45	3
T-9492	2026-10-06 09:42	2026-10-08 13:53	Night Shift	urgent	chat	203	4
T-9493	2026-10-06 09:51	2026-10-08 01:52	Night Shift	normal	phone	93	1
T-9494	2026-10-06 11:11	2026-10-09 04:09	Billing	low	chat	51	5
T-9495	2026-10-06 15:19	2026-10-07 07:11	Open Platform	normal	Partner	52	\N
T-9496	2026-10-07 09:19	2026-10-07 19:10	Night Shift	high	web form	207	1
T-9497	2026-10-07 11:17	2026-10-09 10:07	Open Platform	normal	web form	167	5
T-9498	2026-10-07 13:24	2026-10-08 21:00	First Line	low	email	15	4
T-9499	2026-10-07 15:21	2026-10-08 06:52	Night Shift	normal	email	185	\N
T-9500	2026-10-07 18:38	2026-10-09 11:34	Night Shift	urgent	Partner	205	3
T-9501	2026-10-07 19:27	2026-10-09 16:17	Open Platform	normal	web form	33	4
T-9502	2026-10-07 21:20	2026-10-09 09:30	Open Platform	normal	email	139	3
T-9503	2026-10-08 10:58	\N	Open Platform	urgent	web form	79	\N
T-9504	2026-10-08 11:36	2026-10-11 00:16	Night Shift	normal	email	239	1
T-9505	2026-10-08 12:17	2026-10-10 23:57	Returns	urgent	phone	59	2
T-9506	2026-10-08 13:02	2026-10-10 19:34	Night Shift	urgent	chat	197	\N
T-9507	2026-10-08 13:46	2026-10-08 16:11	First Line	low	email	20	2
T-9508	2026-10-08 15:45	2026-10-10 12:48	Night Shift	urgent	email	36	\N
T-9509	2026-10-08 16:26	2026-10-11 08:24	Partner	high	email	78	\N
T-9510	2026-10-08 16:59	2026-10-10 04:59	Billing	urgent	phone	36	\N
T-9511	2026-10-08 18:40	2026-10-10 17:10	Billing	normal	Partner	11	\N
T-9512	2026-10-09 07:33	2026-10-09 10:07	First Line	normal	chat	21	5
T-9513	2026-10-09 07:52	2026-10-10 04:15	Open Platform	normal	phone	115	2
T-9514	2026-10-09 17:18	2026-10-10 17:51	First Line	normal	web form	14	1
T-9515	2026-10-10 14:45	2026-10-12 00:16	Returns	normal	email	87	3
T-9516	2026-10-10 17:45	2026-10-13 15:16	Night Shift	normal	email	236	3
T-9517	2026-10-10 18:14	2026-10-12 07:31	Billing	normal	chat	10	4
T-9518	2026-10-11 06:56	2026-10-12 02:59	Partner	normal	email	75	\N
T-9519	2026-10-11 09:30	2026-10-13 09:42	Partner	high	web form	152	\N
T-9520	2026-10-11 10:27	2026-10-14 06:31	Night Shift	low	email	197	4
T-9521	2026-10-11 11:55	2026-10-14 02:19	Billing	low	phone	45	1
T-9522	2026-10-11 11:58	2026-10-12 10:33	Billing	high	web form	47	\N
T-9523	2026-10-11 12:44	2026-10-13 17:29	Open Platform	urgent	web form	92	\N
T-9524	2026-10-11 12:46	2026-10-13 18:02	Partner	normal	email	45	2
T-9525	2026-10-11 12:50	2026-10-14 07:29	Returns	normal	email	38	3
T-9526	2026-10-11 12:52	2026-10-12 18:37	Partner	normal	email	126	1
T-9527	2026-10-11 17:31	2026-10-13 08:06	Night Shift	normal	phone	144	5
T-9528	2026-10-12 08:17	2026-10-15 02:41	Billing	normal	chat	87	\N
T-9529	2026-10-12 09:33	2026-10-14 09:00	Partner	high	phone	68	4
T-9530	2026-10-12 09:41	2026-10-13 06:21	Night Shift	high	web form	39	3
T-9531	2026-10-12 10:23	2026-10-14 02:25	Billing	normal	web form	46	2
T-9532	2026-10-12 10:29	2026-10-15 01:42	Returns	normal	Partner	12	5
T-9533	2026-10-12 13:30	2026-10-14 00:19	Returns	normal	Partner	102	5
T-9534	2026-10-12 15:56	2026-10-13 14:11	First Line	normal	email	15	1
T-9535	2026-10-12 17:42	2026-10-15 05:39	First Line	normal	web form	21	1
T-9536	2026-10-13 07:35	2026-10-15 11:38	Night Shift	low	email	184	2
T-9537	2026-10-13 07:35	2026-10-15 05:49	Open Platform	high	phone	39	2
T-9538	2026-10-13 09:10	2026-10-13 15:17	Billing	urgent	phone	34	1
T-9539	2026-10-13 12:32	2026-10-13 16:06	First Line	urgent	chat	27	5
T-9540	2026-10-13 13:29	2026-10-13 17:20	First Line	normal	Partner	4	5
T-9541	2026-10-13 15:14	2026-10-16 08:11	Returns	normal	email	30	1
T-9542	2026-10-14 08:06	2026-10-14 22:50	Returns	normal	web form	37	2
T-9543	2026-10-14 12:45	2026-10-16 03:30	Night Shift	high	chat	68	5
T-9544	2026-10-14 18:39	2026-10-16 06:41	Returns	normal	phone	79	\N
T-9545	2026-10-14 20:37	2026-10-17 00:05	Night Shift	urgent	email	172	4
T-9546	2026-10-15 09:15	\N	Returns	normal	chat	52	\N
T-9547	2026-10-15 09:43	2026-10-15 17:49	Returns	normal	email	60	4
T-9548	2026-10-15 10:10	2026-10-16 09:11	Billing	high	phone	52	4
T-9549	2026-10-16 06:12	2026-10-17 02:47	Open Platform	urgent	web form	133	3
T-9550	2026-10-16 11:40	2026-10-17 11:20	Night Shift	high	phone	104	3
T-9551	2026-10-16 18:04	2026-10-18 09:59	Partner	urgent	phone	79	2
T-9552	2026-10-16 19:45	2026-10-19 10:31	Returns	normal	email	114	4
T-9553	2026-10-17 10:12	2026-10-18 13:48	Open Platform	normal	Partner	157	4
T-9554	2026-10-17 12:12	2026-10-17 22:27	Open Platform	normal	chat	95	\N
T-9555	2026-10-17 13:27	2026-10-18 12:21	Open Platform	normal	web form	162	2
T-9556	2026-10-17 15:44	2026-10-20 07:33	Billing	urgent	Partner	62	\N
T-9557	2026-10-17 16:48	2026-10-18 02:56	Partner	normal	chat	108	2
T-9558	2026-10-17 19:04	2026-10-19 19:54	Open Platform	urgent	chat	70	3
T-9559	2026-10-18 08:07	2026-10-20 16:29	First Line	high	chat	14	2
T-9560	2026-10-18 09:11	2026-10-20 00:18	First Line	normal	email	27	4
T-9561	2026-10-18 13:48	2026-10-19 07:05	Night Shift	normal	email	245	\N
T-9562	2026-10-18 19:58	2026-10-21 13:34	First Line	urgent	email	34	1
T-9563	2026-10-19 11:14	2026-10-22 06:00	Returns	urgent	web form	129	\N
T-9564	2026-10-19 19:33	2026-10-22 13:42	Returns	low	email	120	4
T-9565	2026-10-19 19:51	2026-10-21 16:38	Returns	normal	web form	24	4
T-9566	2026-10-20 11:04	2026-10-23 05:54	Night Shift	urgent	email	138	5
T-9567	2026-10-20 12:23	2026-10-23 00:14	Partner	high	Partner	48	4
T-9568	2026-10-20 12:36	2026-10-20 22:29	Open Platform	urgent	email	81	5
T-9569	2026-10-20 16:24	2026-10-23 11:31	Partner	urgent	email	50	2
T-9570	2026-10-20 16:52	2026-10-23 07:17	Billing	normal	email	17	5
T-9571	2026-10-20 18:54	2026-10-22 20:31	Partner	low	email	107	1
T-9572	2026-10-21 07:14	2026-10-21 20:11	Returns	normal	email	60	2
T-9573	2026-10-21 08:00	2026-10-23 20:28	Night Shift	high	Partner	87	\N
T-9574	2026-10-21 11:45	2026-10-22 01:46	Night Shift	urgent	Partner	143	4
T-9575	2026-10-22 11:35	2026-10-24 06:46	Partner	normal	phone	196	\N
T-9576	2026-10-22 12:01	2026-10-24 01:18	Partner	urgent	email	186	5
T-9577	2026-10-22 15:08	2026-10-24 14:45	First Line	normal	phone	28	\N
T-9578	2026-10-22 16:00	2026-10-25 06:52	Night Shift	low	web form	234	3
T-9579	2026-10-22 17:14	2026-10-24 12:31	Partner	normal	email	114	\N
T-9580	2026-10-22 17:48	2026-10-23 17:13	Partner	low	Partner	202	5
T-9581	2026-10-22 18:43	2026-10-23 20:10	Partner	urgent	phone	126	1
T-9582	2026-10-23 08:22	2026-10-24 09:01	Partner	high	web form	32	5
T-9583	2026-10-23 11:53	2026-10-23 15:03	First Line	high	phone	27	5
T-9584	2026-10-23 12:24	2026-10-25 18:42	Billing	low	phone	51	4
T-9585	2026-10-23 15:17	2026-10-24 11:49	First Line	normal	web form	5	5
T-9586	2026-10-23 16:00	2026-10-24 14:28	Open Platform	urgent	Partner	85	4
T-9587	2026-10-24 10:04	2026-10-26 15:55	Partner	normal	phone	69	\N
T-9588	2026-10-24 10:24	2026-10-25 08:58	Partner	normal	Partner	102	2
T-9589	2026-10-24 10:40	2026-10-25 05:40	First Line	normal	Partner	21	5
T-9590	2026-10-24 11:55	\N	Billing	low	web form	76	\N
T-9591	2026-10-24 14:56	2026-10-25 08:28	Returns	normal	email	127	4
T-9592	2026-10-24 14:56	2026-10-25 13:14	Billing	normal	email	45	5
T-9593	2026-10-24 15:08	2026-10-24 18:22	Open Platform	normal	email	109	1
T-9594	2026-10-24 17:32	2026-10-27 12:10	Open Platform	normal	chat	148	3
T-9595	2026-10-24 17:42	2026-10-25 15:08	Returns	high	Partner	132	4
T-9596	2026-10-25 07:06	2026-10-27 14:12	Night Shift	normal	Partner	32	3
T-9597	2026-10-25 07:18	2026-10-27 00:58	Partner	normal	chat	16	1
T-9598	2026-10-25 10:02	2026-10-25 19:12	Night Shift	low	email	116	2
T-9599	2026-10-25 11:30	2026-10-27 11:58	Partner	high	Partner	117	\N
T-9600	2026-10-25 13:40	\N	Partner	normal	web form	176	\N
T-9601	2026-10-25 13:50	2026-10-28 02:06	First Line	urgent	phone	28	5
T-9602	2026-10-25 14:19	2026-10-25 20:41	First Line	normal	chat	19	4
T-9603	2026-10-25 14:22	2026-10-27 06:03	Open Platform	normal	email	157	5
T-9604	2026-10-25 20:42	2026-10-27 11:52	Billing	high	email	77	\N
T-9605	2026-10-26 06:27	2026-10-28 21:04	Billing	urgent	chat	33	3
T-9606	2026-10-26 13:10	2026-10-26 15:01	Partner	high	chat	93	\N
T-9607	2026-10-26 13:38	2026-10-28 02:33	Returns	high	web form	117	5
T-9608	2026-10-27 10:43	2026-10-28 19:54	Night Shift	normal	web form	94	3
T-9609	2026-10-27 12:20	2026-10-30 00:12	First Line	high	email	33	4
T-9610	2026-10-27 21:18	2026-10-29 04:55	Partner	normal	Partner	149	\N
T-9611	2026-10-28 10:22	2026-10-29 00:11	Open Platform	normal	email	104	\N
T-9612	2026-10-28 10:23	2026-10-28 14:29	First Line	normal	chat	5	5
T-9613	2026-10-28 10:26	\N	First Line	normal	phone	12	\N
T-9614	2026-10-28 12:24	2026-10-30 22:57	Night Shift	low	chat	195	3
T-9615	2026-10-28 13:22	2026-10-30 05:42	Billing	normal	email	41	1
T-9616	2026-10-28 13:27	2026-10-30 03:41	Night Shift	normal	phone	48	5
T-9617	2026-10-28 14:53	2026-10-30 17:55	Returns	low	Partner	23	\N
T-9618	2026-10-28 16:15	2026-10-29 22:39	Returns	low	web form	71	2
T-9619	2026-10-28 17:31	2026-10-31 11:04	First Line	normal	web form	3	3
T-9620	2026-10-28 18:31	2026-10-30 08:32	Billing	low	web form	39	1
T-9621	2026-10-28 21:11	2026-10-31 01:13	First Line	urgent	chat	33	5
T-9622	2026-10-29 09:09	2026-10-30 04:53	Billing	normal	web form	6	\N
T-9623	2026-10-29 09:22	2026-10-31 20:49	Open Platform	high	email	48	\N
T-9624	2026-10-29 09:40	2026-10-31 08:59	Night Shift	urgent	email	209	\N
T-9625	2026-10-29 11:16	2026-10-30 06:54	First Line	low	email	4	4
T-9626	2026-10-29 12:16	2026-10-30 13:42	Night Shift	normal	phone	36	4
T-9627	2026-10-29 13:20	2026-10-30 12:45	Open Platform	normal	Partner	55	1
T-9628	2026-10-29 14:10	2026-10-30 19:20	Billing	high	email	27	\N
T-9629	2026-10-29 16:51	2026-10-31 16:24	Billing	normal	chat	69	2
T-9630	2026-10-30 08:13	2026-11-01 10:36	Partner	normal	chat	50	3
T-9631	2026-10-30 11:41	2026-10-31 17:23	Partner	urgent	web form	90	5
T-9632	2026-10-30 12:46	2026-11-01 07:38	Open Platform	normal	Partner	78	\N
T-9633	2026-10-30 14:31	2026-11-01 14:18	Billing	urgent	email	51	4
T-9634	2026-10-30 16:21	2026-11-02 06:41	Open Platform	high	phone	73	\N
T-9635	2026-10-30 16:53	2026-11-01 15:26	Night Shift	normal	email	95	4
T-9636	2026-10-30 18:25	2026-10-30 23:02	Partner	urgent	email	84	1
T-9637	2026-10-30 18:28	2026-10-31 01:09	Open Platform	low	web form	43	\N
T-9638	2026-10-30 19:47	2026-11-01 05:19	Night Shift	low	email	198	5
T-9639	2026-10-31 06:04	2026-11-02 10:53	Open Platform	high	email	23	\N
T-9640	2026-10-31 06:52	2026-11-01 03:51	Billing	urgent	Partner	84	4
T-9641	2026-10-31 07:01	2026-11-01 15:42	Partner	high	phone	223	3
T-9642	2026-10-31 07:36	2026-10-31 09:12	Billing	normal	phone	39	3
T-9643	2026-10-31 08:27	2026-11-03 03:14	Billing	normal	email	33	2
T-9644	2026-10-31 11:22	2026-11-01 08:27	Partner	normal	email	20	4
T-9645	2026-10-31 17:49	2026-10-31 18:24	First Line	low	phone	3	4
T-9646	2026-10-31 19:44	2026-11-01 21:27	Partner	normal	Partner	74	5
T-9647	2026-11-01 09:04	2026-11-02 23:38	Billing	urgent	phone	73	3
T-9648	2026-11-01 09:23	2026-11-02 15:20	Partner	normal	email	147	1
T-9649	2026-11-01 19:02	2026-11-03 01:13	Open Platform	low	phone	129	5
T-9650	2026-11-01 21:04	2026-11-03 17:14	First Line	low	email	3	4
T-9651	2026-11-02 07:57	2026-11-04 18:06	Night Shift	low	Partner	161	1
T-9652	2026-11-02 09:15	2026-11-04 01:47	Returns	urgent	email	72	\N
T-9653	2026-11-02 09:33	2026-11-03 09:16	Night Shift	normal	web form	179	2
T-9654	2026-11-02 10:52	2026-11-04 12:47	Billing	normal	email	10	2
T-9655	2026-11-02 11:23	2026-11-04 21:40	Night Shift	normal	Partner	51	\N
T-9656	2026-11-02 12:03	2026-11-03 15:18	Partner	normal	chat	139	4
T-9657	2026-11-02 13:14	2026-11-03 20:41	Open Platform	high	phone	84	4
T-9658	2026-11-02 15:48	2026-11-04 03:13	First Line	low	chat	27	4
T-9659	2026-11-02 16:25	2026-11-03 13:51	Open Platform	normal	email	136	4
T-9660	2026-11-02 17:04	2026-11-03 12:12	Returns	low	phone	130	1
T-9661	2026-11-03 06:46	2026-11-04 07:33	First Line	normal	chat	29	5
T-9662	2026-11-03 08:51	2026-11-03 18:10	Billing	high	web form	11	\N
T-9663	2026-11-03 10:41	2026-11-04 08:59	Night Shift	normal	email	53	\N
T-9664	2026-11-03 11:30	2026-11-04 10:00	Partner	urgent	email	192	1
T-9665	2026-11-03 16:37	2026-11-05 13:45	Night Shift	normal	web form	241	2
T-9666	2026-11-03 19:38	2026-11-06 06:08	Partner	urgent	chat	162	\N
T-9667	2026-11-03 19:44	2026-11-05 12:08	Night Shift	normal	Partner	235	1
T-9668	2026-11-04 16:57	2026-11-04 22:06	First Line	high	chat	35	5
T-9669	2026-11-04 18:47	2026-11-07 09:54	Returns	low	email	58	1
T-9670	2026-11-04 20:42	2026-11-06 22:03	First Line	urgent	phone	29	4
T-9671	2026-11-05 07:09	2026-11-07 08:06	Night Shift	urgent	web form	260	4
T-9672	2026-11-05 11:40	2026-11-05 18:57	Night Shift	normal	web form	220	\N
T-9673	2026-11-05 15:00	2026-11-07 04:54	Partner	urgent	chat	129	2
T-9674	2026-11-05 17:30	2026-11-07 17:02	Billing	high	chat	12	2
T-9675	2026-11-05 19:56	2026-11-08 01:24	Partner	normal	web form	53	4
T-9676	2026-11-06 11:48	2026-11-08 01:20	First Line	normal	phone	9	3
T-9677	2026-11-06 12:59	2026-11-06 23:42	First Line	normal	phone	2	5
T-9678	2026-11-06 14:12	2026-11-07 08:49	Partner	normal	web form	201	3
T-9679	2026-11-06 15:06	2026-11-08 12:32	Open Platform	normal	email	155	5
T-9680	2026-11-06 16:44	2026-11-09 10:28	Night Shift	urgent	web form	63	4
T-9681	2026-11-06 19:18	2026-11-08 08:10	Billing	high	Partner	54	5
T-9682	2026-11-06 19:58	2026-11-07 04:16	Returns	normal	email	123	5
T-9683	2026-11-06 20:18	2026-11-09 11:47	Billing	normal	email	44	\N
T-9684	2026-11-06 20:59	2026-11-07 11:26	Billing	normal	email	39	\N
T-9685	2026-11-07 11:23	2026-11-10 07:50	Night Shift	normal	web form	216	5
T-9686	2026-11-07 13:28	2026-11-08 01:18	Night Shift	urgent	email	148	2
T-9687	2026-11-07 18:12	2026-11-09 13:01	Open Platform	normal	email	165	4
T-9688	2026-11-07 20:51	2026-11-09 03:01	First Line	normal	chat	12	4
T-9689	2026-11-07 21:27	2026-11-10 13:39	Night Shift	low	email	124	5
T-9690	2026-11-08 08:18	\N	Open Platform	normal	phone	130	\N
T-9691	2026-11-08 10:58	2026-11-11 02:37	Billing	normal	phone	84	3
T-9692	2026-11-08 13:04	2026-11-08 18:03	First Line	normal	email	19	5
T-9693	2026-11-08 14:20	2026-11-10 14:09	Open Platform	normal	email	178	\N
T-9694	2026-11-08 14:51	2026-11-10 14:34	First Line	normal	Partner	17	\N
T-9695	2026-11-08 16:24	2026-11-10 13:33	Open Platform	urgent	email	125	5
T-9696	2026-11-08 18:17	2026-11-10 09:22	Night Shift	low	Partner	35	5
T-9697	2026-11-08 18:42	2026-11-10 03:31	Billing	normal	Partner	28	3
T-9698	2026-11-08 19:28	2026-11-09 05:11	First Line	normal	Partner	13	4
T-9699	2026-11-08 21:06	2026-11-10 14:44	Open Platform	normal	phone	90	5
T-9700	2026-11-09 07:03	2026-11-11 09:38	Billing	high	phone	60	3
T-9701	2026-11-09 09:50	2026-11-12 01:22	Partner	normal	chat	59	1
T-9702	2026-11-09 11:16	2026-11-12 00:11	Partner	normal	chat	93	\N
T-9703	2026-11-09 13:26	2026-11-12 01:30	Partner	urgent	email	121	4
T-9704	2026-11-09 14:50	2026-11-11 21:56	Partner	normal	Partner	174	5
T-9705	2026-11-09 15:12	2026-11-10 13:27	Open Platform	low	Partner	28	1
T-9706	2026-11-09 16:26	2026-11-11 15:27	Billing	normal	email	71	3
T-9707	2026-11-09 17:23	2026-11-11 05:52	Returns	low	email	127	5
T-9708	2026-11-09 17:27	2026-11-10 22:40	First Line	normal	email	20	4
T-9709	2026-11-09 17:28	2026-11-11 04:22	Partner	urgent	Partner	145	5
T-9710	2026-11-09 20:29	2026-11-12 01:44	First Line	normal	email	15	\N
T-9711	2026-11-10 08:51	2026-11-11 10:05	Open Platform	normal	chat	108	2
T-9712	2026-11-10 12:48	2026-11-12 11:21	Open Platform	urgent	email	157	4
T-9713	2026-11-10 12:58	2026-11-11 20:24	Returns	low	phone	77	5
T-9714	2026-11-10 14:53	2026-11-11 13:10	First Line	normal	web form	26	1
T-9715	2026-11-10 18:24	2026-11-10 21:21	Returns	low	chat	31	\N
T-9716	2026-11-11 08:00	2026-11-12 11:56	Partner	high	email	100	5
T-9717	2026-11-11 09:42	2026-11-13 17:06	Partner	normal	email	183	2
T-9718	2026-11-11 12:10	2026-11-13 15:21	Open Platform	normal	chat	77	2
T-9719	2026-11-11 12:19	2026-11-13 06:46	Partner	high	web form	133	\N
T-9720	2026-11-11 12:19	2026-11-13 05:24	Open Platform	low	chat	111	4
T-9721	2026-11-11 13:38	2026-11-14 07:10	Returns	urgent	phone	23	5
T-9722	2026-11-11 16:08	2026-11-11 21:17	Night Shift	low	email	162	3
T-9723	2026-11-11 17:14	2026-11-12 15:19	Night Shift	normal	Partner	158	2
T-9724	2026-11-11 18:35	2026-11-13 02:34	Billing	normal	Partner	14	4
T-9725	2026-11-11 19:35	2026-11-12 16:50	Open Platform	normal	email	123	\N
T-9726	2026-11-12 09:44	2026-11-14 12:06	Partner	urgent	email	207	3
T-9727	2026-11-12 13:41	2026-11-14 04:12	Billing	high	email	82	1
T-9728	2026-11-12 15:01	2026-11-15 00:37	Partner	low	web form	86	\N
T-9729	2026-11-12 16:59	2026-11-14 18:19	Billing	low	chat	7	4
T-9730	2026-11-12 19:47	2026-11-12 21:46	Open Platform	normal	email	79	5
T-9731	2026-11-13 06:24	2026-11-14 16:52	Open Platform	normal	Partner	40	\N
T-9732	2026-11-13 08:27	2026-11-14 07:27	Open Platform	low	web form	45	3
T-9733	2026-11-13 13:25	2026-11-15 04:18	Billing	normal	email	31	\N
T-9734	2026-11-13 16:33	2026-11-14 06:48	Open Platform	low	Partner	172	3
T-9735	2026-11-13 17:06	2026-11-14 22:41	First Line	normal	email	30	3
T-9736	2026-11-13 19:14	2026-11-14 05:11	Open Platform	normal	email	86	3
T-9737	2026-11-13 19:32	2026-11-15 12:32	Billing	urgent	web form	46	2
T-9738	2026-11-14 07:49	2026-11-15 00:19	Open Platform	normal	Partner	75	\N
T-9739	2026-11-14 08:58	2026-11-15 06:23	Open Platform	normal	web form	177	2
T-9740	2026-11-14 14:06	2026-11-17 04:53	First Line	urgent	phone	15	3
T-9741	2026-11-14 15:52	2026-11-15 17:25	Returns	normal	chat	35	5
T-9742	2026-11-15 08:24	2026-11-17 16:11	First Line	high	phone	15	5
T-9743	2026-11-15 11:27	2026-11-17 18:09	Open Platform	normal	email	175	4
T-9744	2026-11-15 11:34	2026-11-17 21:06	Billing	low	phone	40	5
T-9745	2026-11-16 06:19	2026-11-18 02:57	First Line	normal	email	18	\N
T-9746	2026-11-16 10:44	2026-11-16 20:44	Billing	normal	phone	11	5
T-9747	2026-11-16 12:18	2026-11-17 11:07	First Line	high	Partner	31	2
T-9748	2026-11-16 17:27	\N	Open Platform	high	Partner	162	\N
T-9749	2026-11-16 20:54	2026-11-18 19:31	Partner	low	Partner	193	1
T-9750	2026-11-17 09:41	2026-11-19 23:23	Returns	normal	phone	17	1
T-9751	2026-11-17 10:38	2026-11-18 18:13	Open Platform	low	web form	147	4
T-9752	2026-11-17 11:10	2026-11-20 03:16	Billing	low	email	72	5
T-9753	2026-11-17 13:41	\N	First Line	normal	email	22	\N
T-9754	2026-11-17 16:10	2026-11-18 16:48	Partner	urgent	email	61	5
T-9755	2026-11-17 18:00	2026-11-20 10:22	Partner	urgent	Partner	59	1
T-9756	2026-11-17 19:43	2026-11-19 20:25	First Line	urgent	chat	33	4
T-9757	2026-11-18 07:17	2026-11-20 15:34	First Line	normal	email	23	5
T-9758	2026-11-18 09:21	2026-11-21 03:26	Returns	urgent	chat	25	4
T-9759	2026-11-18 09:32	2026-11-21 05:03	Billing	normal	phone	67	5
T-9760	2026-11-18 09:35	2026-11-19 08:07	Night Shift	normal	Partner	161	2
T-9761	2026-11-18 17:02	2026-11-20 18:10	Open Platform	low	chat	21	\N
T-9762	2026-11-18 19:32	2026-11-21 07:24	Billing	normal	Partner	73	5
T-9763	2026-11-19 07:31	2026-11-20 23:53	First Line	low	Partner	9	\N
T-9764	2026-11-19 12:37	2026-11-21 15:51	Returns	low	email	132	1
T-9765	2026-11-19 12:57	2026-11-21 19:10	Open Platform	normal	web form	126	4
T-9766	2026-11-19 14:31	2026-11-20 10:57	First Line	high	chat	19	5
T-9767	2026-11-19 15:35	2026-11-22 08:48	Partner	normal	web form	149	4
T-9768	2026-11-19 15:39	2026-11-21 16:15	Open Platform	normal	email	35	\N
T-9769	2026-11-19 17:08	2026-11-22 04:13	Night Shift	high	email	134	4
T-9770	2026-11-19 18:21	2026-11-21 00:59	Returns	low	chat	56	4
T-9771	2026-11-19 20:30	2026-11-20 02:15	Night Shift	high	email	219	1
T-9772	2026-11-19 21:33	2026-11-21 08:43	Open Platform	normal	email	61	2
T-9773	2026-11-19 21:33	2026-11-20 06:03	First Line	urgent	email	13	1
T-9774	2026-11-20 13:32	2026-11-21 08:49	Night Shift	normal	Partner	163	\N
T-9775	2026-11-20 18:11	2026-11-23 15:39	Night Shift	high	email	246	4
T-9776	2026-11-20 20:02	2026-11-21 08:09	First Line	normal	chat	8	\N
T-9777	2026-11-20 21:18	2026-11-21 00:37	Returns	high	email	75	\N
T-9778	2026-11-21 08:34	2026-11-22 15:47	Billing	normal	email	43	5
T-9779	2026-11-21 08:51	2026-11-21 16:38	Returns	low	chat	20	4
T-9780	2026-11-21 12:44	2026-11-22 16:51	Returns	normal	chat	92	5
T-9781	2026-11-21 12:45	2026-11-23 23:50	Night Shift	normal	phone	269	4
T-9782	2026-11-21 14:12	2026-11-22 03:20	Partner	normal	phone	120	4
T-9783	2026-11-21 16:36	2026-11-23 01:10	Billing	high	email	6	1
T-9784	2026-11-21 17:07	2026-11-24 05:22	First Line	low	email	23	\N
T-9785	2026-11-21 19:05	2026-11-24 07:55	First Line	urgent	chat	15	\N
T-9786	2026-11-21 19:36	2026-11-23 09:02	Night Shift	normal	web form	46	4
T-9787	2026-11-22 06:00	2026-11-24 11:29	Night Shift	normal	email	111	5
T-9788	2026-11-22 06:36	2026-11-23 09:28	Billing	urgent	web form	9	4
T-9789	2026-11-22 08:30	2026-11-23 13:58	Billing	normal	chat	82	3
T-9790	2026-11-22 12:18	2026-11-24 19:26	First Line	low	Partner	12	\N
T-9791	2026-11-22 16:03	2026-11-25 03:42	Partner	normal	email	144	5
T-9792	2026-11-23 07:05	2026-11-24 19:10	First Line	high	phone	9	5
T-9793	2026-11-23 11:03	2026-11-23 17:29	Returns	urgent	chat	20	2
T-9794	2026-11-23 12:07	2026-11-23 17:34	Night Shift	normal	email	204	4
T-9795	2026-11-23 12:20	2026-11-25 18:13	Billing	urgent	email	47	5
T-9796	2026-11-23 13:55	2026-11-25 00:19	Night Shift	urgent	chat	59	5
T-9797	2026-11-23 14:40	2026-11-24 05:38	Open Platform	high	email	156	5
T-9798	2026-11-23 16:07	2026-11-25 21:17	Billing	normal	web form	22	\N
T-9799	2026-11-23 16:48	2026-11-26 00:12	First Line	normal	Partner	10	5
T-9800	2026-11-23 16:55	2026-11-25 10:29	Returns	urgent	email	106	\N
T-9801	2026-11-23 19:19	2026-11-24 18:36	Night Shift	normal	chat	85	\N
T-9802	2026-11-23 20:59	2026-11-24 22:30	Billing	urgent	web form	37	4
T-9803	2026-11-24 06:25	2026-11-26 17:14	Returns	normal	Partner	30	\N
T-9804	2026-11-24 08:02	2026-11-24 18:54	Billing	normal	chat	30	\N
T-9805	2026-11-24 08:09	2026-11-26 12:45	Partner	normal	web form	201	5
T-9806	2026-11-24 09:46	2026-11-26 18:44	Open Platform	normal	chat	135	4
T-9807	2026-11-24 12:35	2026-11-24 14:51	Returns	high	Partner	105	\N
T-9808	2026-11-24 15:38	2026-11-26 02:18	Open Platform	urgent	web form	163	5
T-9809	2026-11-24 17:23	2026-11-27 11:32	Open Platform	high	email	24	3
T-9810	2026-11-24 19:35	2026-11-25 20:04	First Line	urgent	chat	16	5
T-9811	2026-11-24 19:42	2026-11-25 15:50	Partner	urgent	phone	163	\N
T-9812	2026-11-25 06:06	2026-11-25 08:30	Night Shift	urgent	web form	69	1
T-9813	2026-11-25 07:54	2026-11-25 19:34	Night Shift	urgent	chat	109	5
T-9814	2026-11-25 08:15	2026-11-27 15:47	Open Platform	high	Partner	108	5
T-9815	2026-11-25 12:28	2026-11-26 15:19	First Line	normal	chat	13	5
T-9816	2026-11-25 12:37	2026-11-27 02:27	Open Platform	urgent	email	40	4
T-9817	2026-11-25 12:42	2026-11-28 05:07	Billing	low	Partner	40	4
T-9818	2026-11-25 13:15	2026-11-27 02:40	First Line	low	email	17	4
T-9819	2026-11-25 14:04	2026-11-26 05:10	First Line	urgent	email	28	\N
T-9820	2026-11-25 16:26	2026-11-27 03:01	First Line	normal	phone	33	2
T-9821	2026-11-25 17:00	2026-11-27 00:40	First Line	urgent	phone	33	2
T-9822	2026-11-25 18:56	2026-11-28 02:04	Returns	normal	email	103	\N
T-9823	2026-11-26 07:57	2026-11-29 02:42	Night Shift	normal	chat	136	5
T-9824	2026-11-26 08:09	2026-11-26 10:10	Partner	normal	chat	28	4
T-9825	2026-11-26 08:40	2026-11-26 12:22	Partner	low	email	18	4
T-9826	2026-11-26 15:23	2026-11-28 21:29	Partner	urgent	chat	138	\N
T-9827	2026-11-26 15:50	2026-11-28 13:27	Partner	high	Partner	114	5
T-9828	2026-11-26 19:44	2026-11-29 00:42	Night Shift	low	email	125	4
T-9829	2026-11-26 20:52	2026-11-28 18:26	Returns	high	Partner	30	4
T-9830	2026-11-27 13:18	2026-11-27 20:56	Returns	normal	web form	25	\N
T-9831	2026-11-27 15:25	2026-11-28 14:06	First Line	normal	chat	9	4
T-9832	2026-11-27 16:15	2026-11-29 08:05	Billing	urgent	email	12	4
T-9833	2026-11-27 17:21	\N	Open Platform	low	Partner	177	\N
T-9834	2026-11-28 08:31	2026-11-29 09:34	Partner	high	chat	32	2
T-9835	2026-11-28 14:13	\N	First Line	normal	phone	36	\N
T-9836	2026-11-28 14:39	\N	Returns	high	chat	99	\N
T-9837	2026-11-28 16:25	2026-11-29 00:12	Billing	normal	Partner	38	5
T-9838	2026-11-28 18:55	2026-11-30 04:29	Returns	normal	email	35	3
T-9839	2026-11-29 06:19	\N	Partner	urgent	phone	97	\N
T-9840	2026-11-29 12:22	2026-11-30 07:28	First Line	urgent	web form	13	\N
T-9841	2026-11-29 18:49	\N	Night Shift	low	chat	244	\N
T-9842	2026-11-29 20:37	\N	Open Platform	normal	chat	68	\N
T-9843	2026-11-30 07:14	\N	Returns	urgent	chat	29	\N
\.
